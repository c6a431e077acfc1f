// Runs every recipe of the cookbook as printed, on a warehouse that the real jobs have filled.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { FILLED_AT, type FilledWarehouse, fillWarehouse } from '../../support/pull/filled-warehouse.ts';
import { recipes } from '../../support/warehouse/cookbook.ts';
import { engineCases } from '../../support/warehouse/engines.ts';
import { query } from '../../support/warehouse/view-place.ts';

const all = recipes(FILLED_AT.slice(0, 10));

afterAll(stopPostgres);

it('has fifteen recipes, numbered, with every column explained', () => {
  expect(all.map(({ number }) => number)).toEqual(Array.from({ length: 15 }, (_, index) => index + 1));
});

describe.each(engineCases)('the cookbook on $name', (engineCase) => {
  let filled: FilledWarehouse;
  beforeAll(async () => {
    filled = await fillWarehouse(engineCase);
  }, 300_000);
  afterAll(() => filled?.close());

  it.each(all)('answers $number. $question', async ({ sql, columns }) => {
    const rows = await query(filled.engine, sql);
    expect(rows.length).toBeGreaterThan(0);
    expect(Object.keys(rows[0] ?? {})).toEqual(columns);
  });

  it('runs each recipe as printed', async () => {
    for (const { sql } of recipes()) await query(filled.engine, sql);
  });

  it('counts the rows that the tables hold', async () => {
    const one = async (text: string) => Number(Object.values((await query(filled.engine, text))[0] ?? {})[0]);
    expect(await one('select count(*) from bi_event')).toBe(await one('select count(*) from event'));
    expect(await one('select count(*) from bi_delivery')).toBe(await one('select count(*) from route_point'));
    const byDay = `select count(*) from bi_calendar as c join bi_event as e
      on e.begin_at >= c.begin_at and e.begin_at < c.end_at and e.day = c.day`;
    expect(await one(byDay)).toBe(await one('select count(*) from event'));
    expect(await one('select count(*) from bi_vehicle_day where is_final')).toBeGreaterThan(0);
    expect(await one('select count(*) from bi_vehicle_day where not is_final')).toBeGreaterThan(0);
  });
});
