// How long the queries of a dashboard take on a large warehouse, on each engine, and whether they read a whole fact table:
// the recipes of the cookbook with literal days, and the questions that BI asks most of events.

import { fillStopRules } from '../../src/warehouse/control/config-tables.ts';
import type { Engine } from '../../src/warehouse/engine.ts';
import { fillLocalTime } from '../../src/warehouse/maintenance/local-time.ts';
import { tables } from '../../src/warehouse/schema/catalog.ts';
import { bringSchemaUpToDate, createLateIndexes } from '../../src/warehouse/schema/converge.ts';
import { recipes } from '../support/cookbook.ts';
import { type EnginePlace, engineCases, rowsOf } from '../support/engines.ts';
import { stopPostgres } from '../support/postgres.ts';
import { exportBench } from './export.ts';
import { loadFleet } from './made-up-fleet.ts';
import type { Section } from './task.ts';

const TODAY = '2026-03-31';
const TWO_YEARS = 730;
const TIMES = 3;
const MONTH = "between '2026-03-01' and '2026-03-31'";

const QUESTIONS: Readonly<Record<string, string>> = {
  'Events of a month by category and day': `select day, category, sum(events) from bi_event_day where day ${MONTH}
    group by day, category`,
  'Ten vehicles that sped most in a month': `select vehicle_plate, sum(events) as times from bi_event_day
    where category_id = 2 and day ${MONTH} group by vehicle_plate order by times desc limit 10`,
  'Events of a vehicle on a day, by plate': `select begin_local, category from bi_event
    where vehicle_plate = 'ABC1042' and day = '2026-03-30' order by begin_at`,
  'Events of a category on a day': `select vehicle_plate, begin_local from bi_event
    where category_id = 2 and day = '2026-03-30' order by begin_at`,
  'Stops of a vehicle in a month': `select day, outcome, count(*) from bi_delivery
    where vehicle_plate = 'ABC1042' and day ${MONTH} group by day, outcome`,
};

const FACTS = ['event', 'route_plan', 'route_point', 'route_point_execution', 'route_point_item', 'checklist_answer'];

/** Scans of a fact table in the plan: `SCAN event` of SQLite, `Seq Scan on event_2026_03` of PostgreSQL. */
async function fullScans(engine: Engine, sql: string): Promise<string[]> {
  const explain = engine.name === 'sqlite' ? 'explain query plan' : 'explain';
  const lines = (await engine.read((reader) => rowsOf(reader, `${explain} ${sql}`))).map((row) =>
    Object.values(row).join(' '),
  );
  const found = lines.flatMap((line) => {
    const [, name = ''] = /(?:\bSCAN|Seq Scan on) (\w+)/.exec(line) ?? [];
    const alias = / (point|plan|done|item|answer|visit|other)\b/.exec(line)?.[0] ?? '';
    return name === '' || /USING (?:COVERING )?INDEX/.test(line)
      ? []
      : [name.replace(/_(?:\d{4}_\d\d|undated|early|late)$/, ''), alias.trim()];
  });
  return [...new Set(found)].filter(
    (name) => FACTS.includes(name) || ['point', 'plan', 'done', 'item', 'answer'].includes(name),
  );
}

export async function dashboardsBench(events: number): Promise<Section> {
  const asked = [
    ...recipes(TODAY).map(({ number, question, sql }) => ({ question: `${number}. ${question}`, sql })),
    ...Object.entries(QUESTIONS).map(([question, sql]) => ({ question, sql })),
  ];
  const cells = asked.map(({ question }) => [question]);
  const exports: string[] = [];
  for (const { name, make } of engineCases) {
    const place = await make();
    const engine = await filled(place, events);
    for (const [index, { sql }] of asked.entries()) {
      const times: number[] = [];
      for (let time = 0; time < TIMES; time++) {
        const begun = performance.now();
        await engine.read((reader) => rowsOf(reader, sql));
        times.push(performance.now() - begun);
      }
      cells[index]?.push(Math.min(...times).toFixed(0), (await fullScans(engine, sql)).join(', '));
      process.stderr.write(`${name} ${cells[index]?.join(' | ')}\n`);
    }
    exports.push(...(await exportBench(engine, place)));
    await engine.close();
    await place.remove();
  }
  await stopPostgres();
  const head = ['query', ...engineCases.flatMap(({ name }) => [`${name}, ms`, 'full scans'])];
  const table = (lines: readonly string[][]) => lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
  return {
    title: 'Dashboards and export',
    body: `100 vehicles, two years of stops, and ${events.toLocaleString('en')} events in the last three months. The best of ${TIMES} runs; "full scans"
are the fact tables that the plan reads without an index.

${table([head, head.map(() => '---'), ...cells])}

The export of all tables and views to Parquet, then again with nothing changed. DuckDB reads the same number of events and
the same metres from the files as SQL from the warehouse. Memory is that of the exporting process.

| engine | seconds | peak RSS, MB | seconds again | files written again |
|---|---|---|---|---|
${exports.join('\n')}`,
  };
}

async function filled(place: EnginePlace, events: number): Promise<Engine> {
  const engine = await place.open();
  await bringSchemaUpToDate(engine);
  await fillLocalTime(engine, 'America/Sao_Paulo', Date.parse(`${TODAY}T15:00:00.000Z`));
  await fillStopRules(engine, { lateAfterMs: 900_000 });
  await loadFleet(engine, events, TWO_YEARS);
  await createLateIndexes(engine, tables);
  await engine.upkeep();
  return engine;
}
