// Ten years of schedules in eight zones, with every change of their clocks. The local dates come from Intl,
// which the product does not use for them.
import { describe, expect, it } from 'vitest';
import { ticksAfter } from '../../../src/schedule/ticks.ts';
import { simulateDaemon } from '../../support/simulation/simulated-daemon.ts';

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
/** When clocks change. */
const AT_CHANGES = ['0 0 * * *', '30 2 * * *'];
const WORKDAYS = '0 3 * * 1-5';
const TWICE = '30 0,12 * * *';

interface Span {
  from: number;
  until: number;
}

const TEN_YEARS: Span = {
  from: Date.parse('2009-01-01T12:00:00Z'),
  until: Date.parse('2019-01-01T12:00:00Z'),
};
/** Every kind of clock change in the ten years, for slower tests. */
const THREE_YEARS: Span = {
  from: Date.parse('2010-06-01T12:00:00Z'),
  until: Date.parse('2013-06-01T12:00:00Z'),
};
const HOUR_MS = 3_600_000;

const JOBS = ZONES.flatMap((timezone) =>
  [...DAILY, WORKDAYS, TWICE].map((cron) => ({ name: `${cron} ${timezone}`, cron, timezone })),
);

const dateIn = (zone: string): ((ms: number) => string) => {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
  return (ms) => format.format(ms);
};

const datesBySpan = new Map<string, string[]>();

/** Every local date between two dates, both excluded. */
function datesBetween(zone: string, { from, until }: Span): string[] {
  const known = datesBySpan.get(`${zone} ${from}`);
  if (known !== undefined) return known;
  const date = dateIn(zone);
  const dates = new Set<string>();
  for (let ms = from; ms < until; ms += 12 * HOUR_MS) dates.add(date(ms));
  const found = [...dates].slice(1, -1);
  datesBySpan.set(`${zone} ${from}`, found);
  return found;
}

const isWorkday = (date: string): boolean => ![0, 6].includes(new Date(date).getUTCDay());

/** Once per local date, or twice where that is the schedule; no slot twice. */
function expectDaily({ name, cron, timezone }: (typeof JOBS)[number], ticks: number[], span: Span): void {
  expect(new Set(ticks).size, `slots of ${name}`).toBe(ticks.length);
  const all = datesBetween(timezone, span);
  const expected = cron === WORKDAYS ? all.filter(isWorkday) : all;
  const inside = new Set(expected);
  const ran = ticks.map(dateIn(timezone)).filter((each) => inside.has(each));
  if (cron === TWICE) expect(ran.length, name).toBe(2 * expected.length);
  else expect(ran, name).toEqual(expected);
}

function ticksIn(job: { cron: string; timezone: string }, { from, until }: Span): number[] {
  const ticks: number[] = [];
  for (const tick of ticksAfter(job, from)) {
    if (tick >= until) break;
    ticks.push(tick);
  }
  return ticks;
}

describe('ten years of schedules in eight zones', () => {
  it('run each daily job once per local date, no slot twice', () => {
    for (const job of JOBS.filter(({ cron }) => AT_CHANGES.includes(cron))) {
      expectDaily(job, ticksIn(job, TEN_YEARS), TEN_YEARS);
    }
  });

  it('run as scheduled, without spinning, through every kind of clock change', {
    timeout: 120_000,
  }, async () => {
    const { from, until } = THREE_YEARS;
    const daemon = simulateDaemon({ startAt: from, jobs: JOBS, lastMs: from });
    await daemon.clock.advance(until - from);
    await daemon.stop();
    const runs = Map.groupBy(daemon.runs, ({ job }) => job);
    for (const job of JOBS) {
      const ticks = (runs.get(job.name) ?? []).map(({ tickAt = 0 }) => tickAt);
      expectDaily(job, ticks, THREE_YEARS);
    }
    expect(daemon.ticksRead()).toBeLessThan(daemon.runs.length * 2 + JOBS.length * 2 + 1);
  });

  it('are an hour apart for every hour, through all changes of whole hours', () => {
    for (const timezone of ZONES.filter((zone) => zone !== 'Australia/Lord_Howe')) {
      const ticks = ticksIn({ cron: '0 * * * *', timezone }, TEN_YEARS);
      const wrong = ticks.filter((tick, i) => i > 0 && tick - (ticks[i - 1] ?? 0) !== HOUR_MS);
      expect(wrong, timezone).toEqual([]);
      expect(ticks.length, timezone).toBeGreaterThan(87_000);
    }
  });
});
