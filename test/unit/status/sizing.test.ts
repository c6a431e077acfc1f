import { describe, expect, it } from 'vitest';
import { callBudget } from '../../../src/status/capacity/call-budget.ts';
import { rowsADay, type SizedTable, usualFleetDay } from '../../../src/status/capacity/fleet-day.ts';
import {
  rowBytes,
  type SizingInput,
  type SizingJob,
  sizing,
  slowerSchedules,
} from '../../../src/status/capacity/sizing.ts';
import { retentionByTable } from '../../../src/warehouse/retention.ts';
import { baseTables } from '../../../src/warehouse/schema/catalog.ts';
import { measureRowBytes } from '../../support/measure/row-bytes.ts';

const NOW = Date.parse('2026-03-02T08:00:30.000Z');
const DAY = 86_400_000;

const job = (name: string, cron: string, calls: (periodMs: number) => number): SizingJob => ({
  name,
  cron,
  timezone: 'UTC',
  callsOf: (periodMs) => ({ calls: calls(periodMs), basis: 'estimate' }),
  tables: name === 'events' ? ['event'] : [],
  readsPerRecord: () => 10,
});

const asked: SizingInput = {
  day: { ...usualFleetDay, vehicles: 1_000 },
  engine: 'sqlite',
  hasQueueHome: false,
  latencyMs: 300,
  pictureKb: 100,
  concurrency: 4,
  maxBodyMb: 64,
  retention: {},
};

const sizedTables = Object.keys(rowsADay(asked.day)) as SizedTable[];

const size = (jobs: SizingJob[], rate: number, other: Partial<SizingInput> = {}) =>
  sizing(jobs, callBudget(jobs, rate, NOW), { ...asked, ...other });

describe('the size of a fleet', () => {
  it('is rows, disk, records and concurrent requests', () => {
    const found = size([job('events', '*/10 * * * *', () => 1_000)], 600);
    expect(found).toMatchObject({
      vehicles: 1_000,
      calls_a_minute: 100,
      fits: true,
      daemons: 1,
      changes: [],
    });
    const event = found.tables.find(({ table }) => table === 'event');
    expect(event).toEqual({ table: 'event', rows_a_day: 200_000, bytes_a_row: 440, gb: 32 });
    // 200,000 events a day, each read ten times.
    expect(found.records_a_second).toBe(23);
    // 100 a minute are 1.7 a second; each takes 0.3 s, and a fifth is left free.
    expect(found.concurrency_needed).toBe(1);
    expect(found.picture_gb_a_year).toBe(37);
  });

  it('says plainly that the rate is too low, and which rate is enough', () => {
    const found = size([job('events', '*/10 * * * *', () => 9_000)], 600);
    expect(found).toMatchObject({ fits: false, share: 1.5, requests_per_minute_needed: 1_125 });
    expect(found.changes.join('\n')).toMatch(/requests_per_minute to 1125.*events every 20m/s);
  });

  it('says where no account can be set to such a rate', () => {
    const push = job('push', '* * * * *', (periodMs) => (200e6 * periodMs) / DAY);
    const { changes } = size([push], 600);
    expect(changes.join('\n')).toMatch(/more than the configuration accepts for one account.*several accounts/s);
  });

  it('recommends PostgreSQL and more daemons where one is too little', () => {
    const day = { ...usualFleetDay, vehicles: 800_000 };
    const found = size([job('events', '*/10 * * * *', () => 1)], 600, { day });
    expect(found.daemons).toBe(2);
    expect(found.changes.join('\n')).toMatch(/max_body_mb to 1526.*PostgreSQL.*Run 2 daemons.*retention/s);
    const kept = size([job('events', '*/10 * * * *', () => 1)], 600, {
      day,
      engine: 'postgres',
      hasQueueHome: true,
      retention: retentionByTable({ event: 36.5 * DAY, route_plan: 36.5 * DAY }),
    });
    const gb = (of: typeof found, name: string) => of.tables.find(({ table }) => table === name)?.gb ?? 0;
    expect(gb(kept, 'event')).toBeCloseTo((gb(found, 'event') * 450) / 440 / 10, -1);
    // A stop comes with its plan.
    expect(gb(kept, 'route_point')).toBeLessThan(gb(found, 'route_point') / 5);
  });
});

describe('concurrent requests', () => {
  it.each([
    ['one daemon', 1_000, 62],
    ['two daemons, each its part', 800_000, 31],
  ])('are computed for %s', (_, vehicles, concurrency) => {
    const pull = job('events', '*/10 * * * *', () => 99_000);
    const found = size([pull], 30_000, { day: { ...usualFleetDay, vehicles }, hasQueueHome: true });
    expect(found.concurrency_needed).toBe(62);
    expect(found.changes.join('\n')).toContain(`Set service.concurrency to ${concurrency}:`);
  });
});

describe('the one writer of a warehouse', () => {
  const pull = job('events', '*/10 * * * *', () => 1);
  const on = (vehicles: number, hasQueueHome: boolean) =>
    size([pull], 600, { day: { ...usualFleetDay, vehicles }, hasQueueHome });

  it('is named as the limit, instead of more daemons', () => {
    const found = on(3_000_000, true);
    // 600 million events a day, each read ten times.
    expect(found).toMatchObject({ records_a_second: 69_444, writer_share: 3.47, daemons: 2 });
    const changes = found.changes.join('\n');
    expect(changes).toMatch(/one writer at a time loads about 20000 records a second/);
    expect(changes).not.toMatch(/Run \d+ daemons|PostgreSQL/);
    expect(on(3_000_000, false).changes.join('\n')).toMatch(/PostgreSQL/);
  });

  it('is not named while it can write all that the daemons read', () => {
    const found = on(800_000, true);
    expect(found.writer_share).toBeLessThan(1);
    expect(found.changes.join('\n')).toMatch(/Run 2 daemons/);
    expect(found.changes.join('\n')).not.toMatch(/one writer/);
  });
});

describe('slower schedules', () => {
  it('lengthen the most expensive job until all fit, and change no job that would not save a call', () => {
    const jobs = [
      job('dear', '*/5 * * * *', () => 1_000),
      job('cheap', '*/5 * * * *', () => 100),
      job('push', '* * * * *', (periodMs) => (130_000 * periodMs) / DAY),
    ];
    const budget = callBudget(jobs, 200, NOW);
    expect(slowerSchedules(jobs, budget)).toEqual([{ job: 'dear', every: '30m', calls_per_day: 48_000 }]);
  });

  it('are none where everything fits', () => {
    const jobs = [job('a', '*/5 * * * *', () => 10)];
    expect(slowerSchedules(jobs, callBudget(jobs, 600, NOW))).toEqual([]);
  });
});

/** At most one a week for each vehicle. */
const FEW_ROWS = ['itinerary'];

describe('the tables of the estimate', () => {
  it('are all that get rows every day', () => {
    const daily = baseTables.filter(({ retentionBy, parent }) => retentionBy !== null || parent !== null);
    const names = daily.map(({ name }) => name).filter((name) => !FEW_ROWS.includes(name));
    expect(sizedTables).toEqual(expect.arrayContaining(names));
  });
});

describe('the bytes of a row', () => {
  it('are close to those of rows that the jobs have pulled', async () => {
    const measured = await measureRowBytes('sqlite', { vehicles: 20, days: 3 });
    const estimated = sizedTables.filter((table) => (measured.get(table)?.rows ?? 0) > 200);
    expect(estimated).toEqual(expect.arrayContaining(['event', 'route_point', 'status_change']));
    for (const table of estimated) {
      const ratio = (measured.get(table)?.bytes ?? 0) / rowBytes('sqlite', table);
      expect(Math.abs(Math.log(ratio)), `${table}: ${ratio} times the estimate`).toBeLessThan(Math.log(1.5));
    }
  });
});
