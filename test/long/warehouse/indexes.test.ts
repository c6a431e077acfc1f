// Every index of a business table slows each load of the table, so each has a query that SQLite answers by it: a recipe of
// the cookbook, or a lookup of the product itself, named here.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import { tables } from '../../../src/warehouse/schema/catalog.ts';
import { bringSchemaUpToDate, createLateIndexes } from '../../../src/warehouse/schema/converge.ts';
import { loadFleet } from '../../bench/warehouse/made-up-fleet.ts';
import { recipes } from '../../support/warehouse/cookbook.ts';
import { type EnginePlace, makePlace } from '../../support/warehouse/engines.ts';
import { query } from '../../support/warehouse/view-place.ts';

const PERIOD = ">= '2026-03-01T00:00:00.000Z'";

const LOOK_UPS: Readonly<Record<string, string>> = {
  'earlier events of a vehicle': `select max(begin_date) from event where vehicle_id = 1 and begin_date ${PERIOD}`,
  'the checklists of a period': `select id from checklist where date_executed ${PERIOD}`,
  'the answers of checklists that were read': 'select id from checklist_answer where checklist_id in (1, 2)',
  'summaries of vehicles that are not known yet': `select title from daily_summary
    where vehicle_id is null and day >= '2026-03-01'`,
  'summaries of drivers that are not known yet': `select title from daily_summary
    where driver_id is null and day >= '2026-03-01'`,
  'revisions that are too old to keep': `select figure from daily_summary_revision where observed_at < '2026-01-01'`,
  'failed pictures that are fetched again': `select hash from image where error is not null and attempts < 5
    order by fetched_at`,
  'itineraries of a period': `select id from itinerary where date_time_start ${PERIOD}`,
  'itineraries that were open at an instant': `select id from itinerary where date_time_end ${PERIOD}`,
  'route plans of a period': `select id from route_plan where date_time_start ${PERIOD}`,
  'plans of a vehicle in a period': `select plan_code from bi_route_plan where vehicle_id = 1 and day >= '2026-03-01'`,
  'the plan of an ERP code': "select plan_code from bi_route_plan where plan_code = 'ROUTE-7'",
  'the days of plans that are still open': "select status from bi_day_status where day = '2026-03-01'",
  'plans whose status changed lately': `select entity_id from status_change where observed_at ${PERIOD}`,
};

let place: EnginePlace;
let engine: Engine;
beforeAll(async () => {
  place = await makePlace('sqlite');
  engine = await place.open();
  await bringSchemaUpToDate(engine);
  await fillLocalTime(engine, 'America/Sao_Paulo', Date.parse('2026-03-31T15:00:00.000Z'));
  await loadFleet(engine, 20_000);
  await createLateIndexes(engine, tables);
  await engine.upkeep();
});
afterAll(async () => {
  await engine?.close();
  await place?.remove();
});

it('has no index that no query uses', async () => {
  const used = new Set<string>();
  for (const sql of [...Object.values(LOOK_UPS), ...recipes('2026-03-31').map((recipe) => recipe.sql)]) {
    for (const { detail } of await query(engine, `explain query plan ${sql}`))
      for (const [name] of String(detail).matchAll(/\bidx_\w+/g)) used.add(name);
  }
  const declared = tables
    .filter(({ kind, retentionBy }) => kind === 'base' || retentionBy === 'observed_at')
    .flatMap(({ name, indexes }) => indexes.map(({ columns }) => `idx_${name}_${columns.join('_')}`));
  expect(declared.filter((name) => !used.has(name))).toEqual([]);
});
