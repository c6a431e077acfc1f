// When a job will run in the coming days: how often on each local day, the first instants of it, and whether the
// clock changes on it. Pure.
import { Temporal } from 'temporal-polyfill';
import { isoInstant } from '../../core/time/clock.ts';
import { isClockChangeDay, type Schedule, ticksAfter } from '../../schedule/ticks.ts';
import { localDayOf, periodOf } from '../api/local-day.ts';

export interface PreviewDay {
  /** Local date in the zone of the schedule. */
  day: string;
  /** Runs on it; `more` where there are even more. */
  runs: number;
  more: boolean;
  first: string[];
  clock_change: boolean;
}

const DAYS = 7;
const NAMED = 24;
/** Ticks of a day that are counted out; a schedule for every second has more. */
const MOST_TICKS = 1_500;

/** Days to come do not change, and counting a schedule for every minute out takes a while. */
const known = new Map<string, PreviewDay>();
const MOST_KNOWN = 1_000;

export function schedulePreview(schedule: Schedule, nowMs: number): PreviewDay[] {
  const today = Temporal.PlainDate.from(localDayOf(nowMs, schedule.timezone));
  return Array.from({ length: DAYS }, (_, n) => {
    const day = today.add({ days: n }).toString();
    return n === 0 ? previewDay(schedule, day, nowMs) : wholeDay(schedule, day);
  });
}

function wholeDay(schedule: Schedule, day: string): PreviewDay {
  const key = JSON.stringify([schedule.cron, schedule.timezone, day]);
  const made = known.get(key) ?? previewDay(schedule, day, Number.NEGATIVE_INFINITY);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, made);
  return made;
}

function previewDay(schedule: Schedule, day: string, afterMs: number): PreviewDay {
  const { from, to } = periodOf(day, schedule.timezone);
  const toMs = Date.parse(to);
  const ticks: number[] = [];
  for (const tick of ticksAfter(schedule, Math.max(Date.parse(from) - 1, afterMs))) {
    if (tick >= toMs || ticks.length > MOST_TICKS) break;
    ticks.push(tick);
  }
  return {
    day,
    runs: Math.min(ticks.length, MOST_TICKS),
    more: ticks.length > MOST_TICKS,
    first: ticks.slice(0, NAMED).map(isoInstant),
    clock_change: isClockChangeDay(schedule.timezone, Date.parse(from)),
  };
}
