// Ten years of schedules in eight zones, every change of their clocks included. The local dates are told by Intl,
// which the product does not use for them.
import { describe, expect, it } from 'vitest';
import { ticksAfter } from '../../src/schedule/ticks.ts';
import { simulateDaemon } from '../support/simulated-daemon.ts';

const ZONES = [
  'Australia/Lord_Howe', // half an hour of daylight saving
  'America/Santiago', // midnight does not exist, or comes twice
  'America/Sao_Paulo', // the same, until 2019
  'Pacific/Apia', // left out a whole date
  'Africa/Casablanca', // changes four times a year
  'America/New_York',
  'Europe/Berlin',
  'Asia/Kolkata',
];
const DAILY = ['0 0 * * *', '30 1 * * *', '30 2 * * *', '15 23 * * *'];
const WORKDAYS = '0 3 * * 1-5';
const TWICE = '30 0,12 * * *';

const FROM = Date.parse('2009-01-01T12:00:00Z');
const UNTIL = Date.parse('2019-01-01T12:00:00Z');
const HOUR_MS = 3_600_000;

const dateIn = (zone: string): ((ms: number) => string) => {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
  return (ms) => format.format(ms);
};

/** Every local date that there was between two dates, both left out. */
function datesBetween(zone: string): string[] {
  const date = dateIn(zone);
  const dates = new Set<string>();
  for (let ms = FROM; ms < UNTIL; ms += 12 * HOUR_MS) dates.add(date(ms));
  return [...dates].slice(1, -1);
}

const isWorkday = (date: string): boolean => ![0, 6].includes(new Date(date).getUTCDay());

describe('ten years of schedules in eight zones', () => {
  it('run each daily job once per local date, no slot twice, without spinning', {
    timeout: 120_000,
  }, async () => {
    const jobs = ZONES.flatMap((timezone) =>
      [...DAILY, WORKDAYS, TWICE].map((cron) => ({ name: `${cron} ${timezone}`, cron, timezone })),
    );
    const daemon = simulateDaemon({ startAt: FROM, jobs, lastMs: FROM });
    await daemon.clock.advance(UNTIL - FROM);
    await daemon.stop();
    const runs = Map.groupBy(daemon.runs, ({ job }) => job);
    for (const { name, cron, timezone } of jobs) {
      const ticks = (runs.get(name) ?? []).map(({ tickAt = 0 }) => tickAt);
      expect(new Set(ticks).size, `slots of ${name}`).toBe(ticks.length);
      const all = datesBetween(timezone);
      const expected = cron === WORKDAYS ? all.filter(isWorkday) : all;
      const date = dateIn(timezone);
      const inside = new Set(expected);
      const ran = ticks.map(date).filter((each) => inside.has(each));
      if (cron === TWICE) expect(Math.abs(ran.length - 2 * expected.length), name).toBe(0);
      else expect(ran, name).toEqual(expected);
    }
    expect(daemon.looks()).toBeLessThan(daemon.runs.length * 2 + jobs.length * 2 + 1);
  });

  it('are an hour apart for every hour, through all changes of whole hours', () => {
    for (const timezone of ZONES.filter((zone) => zone !== 'Australia/Lord_Howe')) {
      let before = FROM;
      for (const tick of ticksAfter({ cron: '0 * * * *', timezone }, FROM)) {
        if (tick >= UNTIL) break;
        const gap = tick - before;
        if (gap !== HOUR_MS && before !== FROM) expect(gap, `${timezone} ${tick}`).toBe(HOUR_MS);
        before = tick;
      }
    }
  });
});
