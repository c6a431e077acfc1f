// How long the queries of a dashboard take on a large warehouse, on each engine, and whether they read a whole fact table:
// the recipes of the cookbook, and the questions that BI asks most of events. PostgreSQL is asked as the role of BI, whose
// settings decide how a query is planned.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import knex from 'knex';
import { fillStopRules } from '../../../src/warehouse/control/config-tables.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import { baseTables, tables } from '../../../src/warehouse/schema/catalog.ts';
import { bringSchemaUpToDate, createLateIndexes } from '../../../src/warehouse/schema/converge.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { recipes } from '../../support/warehouse/cookbook.ts';
import { type EngineName, type EnginePlace, engineCases, makePlace, rowsOf } from '../../support/warehouse/engines.ts';
import type { Section } from '../task.ts';
import { EXPORT_LIMITS, type ExportLine, exportBench } from './export.ts';
import { loadFleet } from './made-up-fleet.ts';

const TODAY = '2026-03-31';
const TWO_YEARS = 730;
/** Of stops beside the ten million events: what their export takes is then theirs. */
const THREE_MONTHS = 90;
const TIMES = 3;
const MOST_MS = 1_000;
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
    where vehicle_id = (select id from vehicle where plate = 'ABC1042') and day ${MONTH} group by day, outcome`,
};

/** Queries that have neither a day nor a vehicle, with the reason. */
const EXEMPT: Readonly<Record<number, string>> = { 1: 'counts the rows of every table' };

/** Records that belong to a day, their parts, and their history and totals. */
const FACTS = new Set([
  ...baseTables.filter(({ retentionBy, parent }) => retentionBy !== null || parent !== null).map(({ name }) => name),
  'event_day',
  'status_change',
]);

/** The fact tables that the plan reads completely, through an index or not. */
async function fullScans({ name, ask }: BiReader, sql: string): Promise<string[]> {
  const found = name === 'sqlite' ? await sqliteScans(ask, sql) : await postgresScans(ask, sql);
  return [...new Set(found)].filter((name) => FACTS.has(name)).sort();
}

type Ask = (statement: string) => Promise<Record<string, unknown>[]>;

interface BiReader {
  name: EngineName;
  ask: Ask;
  close(): Promise<void>;
}

const ROLES = readFileSync(resolve(import.meta.dirname, '../../../deploy/postgres-roles.sql'), 'utf8');
const BI_PASSWORD = 'only-for-tests';

/** Before the schema is made, which opens itself to the role. */
async function makeBiRole({ settings }: EnginePlace): Promise<void> {
  const admin = knex({ client: 'pg', connection: settings.url as string });
  await admin.raw(`${ROLES}; alter role roadbook_bi password '${BI_PASSWORD}'`);
  await admin.destroy();
}

function biReader(engine: Engine, { settings }: EnginePlace): BiReader {
  const { name } = engine;
  if (name === 'sqlite')
    return { name, ask: (statement) => engine.read((sql) => rowsOf(sql, statement)), close: async () => undefined };
  const url = new URL(settings.url as string);
  Object.assign(url, { username: 'roadbook_bi', password: BI_PASSWORD });
  const sql = knex({ client: 'pg', connection: url.href, pool: { min: 0, max: 1 } });
  return { name: 'postgres', ask: (statement) => rowsOf(sql, statement), close: () => sql.destroy() };
}

/** SQLite names a table by its alias, which the query or a view gives. An alias of several tables stands for all of them. */
async function sqliteScans(ask: Ask, sql: string): Promise<string[]> {
  const views = await ask(`select sql from sqlite_master where type = 'view'`);
  const given = [sql, ...views.map((view) => String(view.sql))].flatMap((text) => [
    ...text.matchAll(/\b(?:from|join)\s+"?(\w+)"?\s+as\s+(\w+)/g),
  ]);
  const scanned = (await ask(`explain query plan ${sql}`)).flatMap(
    ({ detail }) => /^SCAN (\w+)/.exec(String(detail))?.[1] ?? [],
  );
  return scanned.flatMap((name) => [
    name,
    ...given.flatMap(([, table, alias]) => (alias === name ? (table ?? []) : [])),
  ]);
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  /** Of one loop. */
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

const PARTITION = /_(?:\d{4}_\d\d|undated|early|late)$/;
/** A partition of so few rows, such as that of a month that has just begun, is read completely sooner than by an index. */
const FEW_ROWS = 10_000;

/** A partition counts as its table, unless it holds few rows or the run left it out. */
async function postgresScans(ask: Ask, sql: string): Promise<string[]> {
  const [row] = await ask(`explain (analyze, format json) ${sql}`);
  const [plan] = Object.values(row ?? {});
  const [{ Plan: root }] = (typeof plan === 'string' ? JSON.parse(plan) : plan) as [{ Plan: PlanNode }];
  const nodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodes)];
  const isBounded = (node: PlanNode): boolean =>
    node['Node Type'] === 'Bitmap Heap Scan'
      ? nodes(node).some((each) => each['Node Type'] === 'Bitmap Index Scan' && each['Index Cond'] !== undefined)
      : node['Index Cond'] !== undefined;
  const rowsRead = (node: PlanNode): number =>
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  const isLarge = (node: PlanNode): boolean =>
    rowsRead(node) > (PARTITION.test(node['Relation Name'] ?? '') ? FEW_ROWS : 0);
  return nodes(root)
    .filter((node) => !isBounded(node) && isLarge(node))
    .map((node) => (node['Relation Name'] ?? '').replace(PARTITION, ''));
}

export interface Sizes {
  /** For the queries of both engines, and the export of PostgreSQL. */
  events: number;
  /** For the export of SQLite: both engines export batch by batch, and this one can be loaded in minutes. */
  exported: number;
}

export async function dashboardsBench({ events, exported }: Sizes): Promise<Section> {
  const asked = [
    ...recipes().map(({ number, question, sql }) => ({
      question: `${number}. ${question}`,
      sql,
      mayScan: number in EXEMPT,
    })),
    ...Object.entries(QUESTIONS).map(([question, sql]) => ({ question, sql, mayScan: false })),
  ];
  const cells = asked.map(({ question }) => [question]);
  const exports: ExportLine[] = [];
  const faults: string[] = [];
  for (const { name, make } of engineCases) {
    const place = await make();
    const engine = await filled(place, events, TWO_YEARS);
    const reader = biReader(engine, place);
    for (const [index, { question, sql, mayScan }] of asked.entries()) {
      const ms = await bestMs(reader, sql);
      const scans = await fullScans(reader, sql);
      if (ms >= MOST_MS) faults.push(`${name}: "${question}" takes ${ms.toFixed(0)} ms`);
      if (scans.length > 0 && !mayScan) faults.push(`${name}: "${question}" reads all of ${scans.join(', ')}`);
      cells[index]?.push(ms.toFixed(0), scans.join(', '));
      process.stderr.write(`${name} ${cells[index]?.join(' | ')}\n`);
    }
    await reader.close();
    if (name === 'postgres') exports.push(await exportBench(engine, place));
    await engine.close();
    await place.remove();
  }
  await stopPostgres();
  exports.push(await largeExport(exported));
  const head = ['query', ...engineCases.flatMap(({ name }) => [`${name}, ms`, 'read completely'])];
  const table = (lines: readonly string[][]) => lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
  return {
    title: 'Dashboards and export',
    faults: [...faults, ...exports.flatMap((line) => line.faults)],
    body: `100 vehicles, two years of stops, and ${events.toLocaleString('en')} events in the last three months. The recipes of the cookbook as printed,
on a calendar that ends on ${TODAY}. The best of ${TIMES} runs; "read completely" are the fact tables that the plan reads without a
bound, through an index or not. The run fails if a query takes ${MOST_MS} ms, or reads a fact table completely although it has a day or a
vehicle. Without either: ${Object.entries(EXEMPT).map(([number, reason]) => `recipe ${number}, which ${reason}`)}. PostgreSQL is asked
as \`roadbook_bi\`, the role that deploy/postgres-roles.sql makes.

${table([head, head.map(() => '---'), ...cells])}

The export of all tables and views to Parquet, then again with nothing changed: PostgreSQL with the same rows, SQLite with
three months of stops. ${EXPORT_LIMITS}

| engine | events | seconds | peak RSS, MB | seconds again | files written again |
|---|---|---|---|---|---|
${table(exports.map((line) => line.cells))}`,
  };
}

async function bestMs({ ask }: BiReader, sql: string): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    const begun = performance.now();
    await ask(sql);
    times.push(performance.now() - begun);
  }
  return Math.min(...times);
}

async function largeExport(events: number): Promise<ExportLine> {
  const place = await makePlace('sqlite');
  const engine = await filled(place, events, THREE_MONTHS);
  try {
    return await exportBench(engine, place);
  } finally {
    await engine.close();
    await place.remove();
  }
}

async function filled(place: EnginePlace, events: number, days: number): Promise<Engine> {
  if (place.settings.engine === 'postgres') await makeBiRole(place);
  const engine = await place.open();
  await bringSchemaUpToDate(engine);
  await fillLocalTime(engine, 'America/Sao_Paulo', Date.parse(`${TODAY}T15:00:00.000Z`));
  await fillStopRules(engine, { lateAfterMs: 900_000 });
  await loadFleet(engine, events, days);
  await createLateIndexes(engine, tables);
  // bi_calendar takes its last day for today if the clock is past it, so that the recipes find their days.
  await engine.write(({ sql }) => sql('local_day').where('day', '>', TODAY).delete());
  await engine.upkeep();
  return engine;
}
