// The coming runs of a job: for each local day their number, the first times, and whether the clock changes. Pure.
import { Temporal } from 'temporal-polyfill';
import { isoInstant } from '../../core/time/clock.ts';
import { localDate, periodOf } from '../../core/time/local-days.ts';
import { isClockChangeDay, type Schedule, ticksAfter } from '../../schedule/ticks.ts';

const DAYS = 7;
const MOST_TIMES = 24;
/** Counting stops at this many ticks a day; a schedule for every second has more. */
const MOST_TICKS = 1_500;

export function schedulePreview(schedule: Schedule, nowMs: number) {
  const today = Temporal.PlainDate.from(localDate(nowMs, schedule.timezone));
  return Array.from({ length: DAYS }, (_, n) => previewDay(schedule, today.add({ days: n }).toString(), nowMs));
}

/** `day` is a local date in the zone of the schedule. */
function previewDay(schedule: Schedule, day: string, nowMs: number) {
  const { from, to } = periodOf(day, schedule.timezone);
  const toMs = Date.parse(to);
  const ticks: number[] = [];
  for (const tick of ticksAfter(schedule, Math.max(Date.parse(from) - 1, nowMs))) {
    if (tick >= toMs || ticks.length > MOST_TICKS) break;
    ticks.push(tick);
  }
  return {
    day,
    /** Number of runs on the day; `more` if counting stopped early. */
    runs: Math.min(ticks.length, MOST_TICKS),
    more: ticks.length > MOST_TICKS,
    first: ticks.slice(0, MOST_TIMES).map(isoInstant),
    clock_change: isClockChangeDay(schedule.timezone, Date.parse(from)),
  };
}
