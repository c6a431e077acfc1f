// Loads rows into PostgreSQL. The keys are looked up first: rows that are new go straight into the table by COPY, the
// fastest way there is; the others go by COPY into a temporary table and from there only where they differ. That is
// sound because every writing transaction of every process holds the same lock, so no key can appear in between.
import type { Extent, LoadCounts, Row, Scalar, Stamp } from '../engine.ts';
import { Overtaken } from '../overtaken.ts';
import type { Table } from '../table.ts';
import { recordColumns } from '../table.ts';
import type { PgConnection } from './postgres-connection.ts';
import { copyIn, copyText } from './postgres-copy.ts';
import { ensureMonths } from './postgres-months.ts';
import { arrayText, runStatement } from './postgres-statement.ts';
import {
  copyStatement,
  copyToStageStatement,
  historyStatement,
  lookupStatement,
  missingStatement,
  nearPartsStatement,
  newerMissingStatement,
  newerStatement,
  presentStatement,
  revisionStatement,
  stageName,
  stageStatement,
  updateStatement,
} from './postgres-statements.ts';

/** Rows a round of statements; larger ones gain nothing and hold more memory. */
const BATCH_ROWS = 4_000;

export async function loadRows(
  connection: PgConnection,
  table: Table,
  rows: readonly Row[],
  stamp: Stamp,
): Promise<LoadCounts> {
  const counts: LoadCounts = { inserted: 0, updated: 0, unchanged: 0 };
  if (rows.length === 0) return counts;
  const parts =
    table.monthsOf === null ? undefined : await ensureMonths(connection, table, table.monthsOf, rows);
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    const batch = rows.slice(start, start + BATCH_ROWS);
    const { fresh, known } = await sortByKey(connection, table, batch, { parts, stamp });
    const updated = await mergeRows(connection, table, { fresh, known }, stamp);
    if (fresh.length > 0) {
      await copyIn(connection, copyStatement(table), copyText(fresh, [stamp.at, stamp.at, stamp.runId]));
    }
    counts.inserted += fresh.length;
    counts.updated += updated;
    counts.unchanged += known.length - updated;
  }
  return counts;
}

/**
 * The planner knows nothing of staged rows, and would rather read a whole month for each batch than look so many keys
 * up in its index: the cost would grow with what is stored.
 */
const LOOK_UP_EACH = 'set local enable_hashjoin = off; set local enable_mergejoin = off';
const JOIN_FREELY = 'set local enable_hashjoin to default; set local enable_mergejoin to default';

interface Sorted {
  fresh: Row[];
  /** Each with the instant that its stored row has; null where the table is not kept by month. */
  known: { row: Row; was: string | null; isNewer: boolean }[];
}

interface Found {
  place: number;
  was: string | null;
  is_newer: boolean;
}

async function sortByKey(
  connection: PgConnection,
  table: Table,
  rows: readonly Row[],
  { parts, stamp }: { parts: readonly string[] | undefined; stamp: Stamp },
): Promise<Sorted> {
  const keys = keyColumns(table, rows);
  const targets = parts === undefined ? [table.name] : await nearParts(connection, table, keys, parts);
  const found = new Map<number, { was: string | null; isNewer: boolean }>();
  if (targets.length > 0) {
    const values = [...keys.map(arrayText), stamp.readAt, stamp.at];
    const result = await runStatement(connection, lookupStatement(table, targets), values);
    for (const { place, was, is_newer } of result.rows as Found[])
      found.set(place, { was, isNewer: is_newer });
  }
  const sorted: Sorted = { fresh: [], known: [] };
  for (const [index, row] of rows.entries()) {
    const stored = found.get(index + 1);
    if (stored === undefined) sorted.fresh.push(row);
    else sorted.known.push({ row, ...stored });
  }
  return sorted;
}

/** The values of each key column. */
function keyColumns(table: Table, rows: readonly Row[]): Scalar[][] {
  const columns = recordColumns(table);
  return table.key.map((name) => {
    const position = columns.findIndex((column) => column.name === name);
    return rows.map((row) => row[position] ?? null);
  });
}

/** The parts in which a row of the batch can be at all. */
async function nearParts(
  connection: PgConnection,
  table: Table,
  keys: readonly Scalar[][],
  parts: readonly string[],
): Promise<string[]> {
  const lasts = keys.at(-1) ?? [];
  const leads = keys.slice(0, -1);
  const spans = new Map<string, { lead: Scalar[]; least: bigint; greatest: bigint }>();
  for (const [index, last] of lasts.entries()) {
    const lead = leads.map((column) => column[index] ?? null);
    const value = BigInt(last as number | string);
    const span = spans.get(lead.join()) ?? { lead, least: value, greatest: value };
    if (value < span.least) span.least = value;
    if (value > span.greatest) span.greatest = value;
    spans.set(lead.join(), span);
  }
  const all = [...spans.values()];
  const values = [
    ...leads.map((_, index) => arrayText(all.map(({ lead }) => lead[index]))),
    `{${all.map(({ least }) => least).join(',')}}`,
    `{${all.map(({ greatest }) => greatest).join(',')}}`,
  ];
  const { rows } = await runStatement(connection, nearPartsStatement(table, parts), values);
  return (rows as { part: string }[]).map(({ part }) => part);
}

/** Writes what differs, with its history; tells how many rows were updated. */
async function mergeRows(
  connection: PgConnection,
  table: Table,
  { fresh, known }: Sorted,
  stamp: Stamp,
): Promise<number> {
  const { at, runId } = stamp;
  const isTold = table.history !== null || table.revisions !== null;
  const staged = isTold ? [...known, ...fresh.map((row) => ({ row, was: null }))] : known;
  if (staged.length === 0) return 0;
  const ready = [stageStatement(table), `truncate ${stageName(table)}`, LOOK_UP_EACH];
  await runStatement(connection, ready.join('; '));
  const text = copyText(
    staged.map(({ row, was }) => [...row, was]),
    [],
  );
  await copyIn(connection, copyToStageStatement(table), text);
  if (known.some(({ isNewer }) => isNewer)) {
    await refuseNewer(connection, table, { text: newerStatement(table), values: [] }, stamp);
  }
  if (table.history !== null) {
    await runStatement(connection, historyStatement(table, table.history), [at, runId]);
  }
  if (table.revisions !== null) {
    await runStatement(connection, revisionStatement(table, table.revisions), [at, runId]);
  }
  let updated = 0;
  for (const { place, bounds } of placesOf(table, known)) {
    const { rowCount } = await runStatement(connection, updateStatement(table, place), [
      at,
      runId,
      ...bounds,
    ]);
    updated += rowCount ?? 0;
  }
  await runStatement(connection, JOIN_FREELY);
  return updated;
}

/** Throws where the statement, which binds two instants first, counts rows that were written between them. */
async function refuseNewer(
  connection: PgConnection,
  table: Table,
  { text, values }: { text: string; values: string[] },
  { readAt, at }: Stamp,
): Promise<void> {
  const { rows } = await runStatement(connection, text, [readAt, at, ...values]);
  const newer = Number((rows as { newer: number }[])[0]?.newer ?? 0);
  if (newer > 0) throw new Overtaken(table.name, newer);
}

/** Where the stored rows are: the bounds let PostgreSQL leave out every month that holds none of them. */
function placesOf({ monthsOf }: Table, known: Sorted['known']): { place: string; bounds: string[] }[] {
  if (known.length === 0) return [];
  if (monthsOf === null) return [{ place: 'true', bounds: [] }];
  const dated = known.flatMap(({ was }) => (was === null ? [] : [was])).sort();
  const column = `old."${monthsOf}"`;
  const places = [];
  if (dated.length > 0) {
    const place = `${column} = new._was and ${column} between $3 and $4`;
    places.push({ place, bounds: [dated[0] ?? '', dated.at(-1) ?? ''] });
  }
  if (dated.length < known.length)
    places.push({ place: `${column} is null and new._was is null`, bounds: [] });
  return places;
}

export async function countPresentRows(
  connection: PgConnection,
  table: Table,
  extent: Extent,
): Promise<number> {
  const { text, values } = presentStatement(table, extent);
  const { rows } = await runStatement(connection, text, values);
  return (rows as { present: number }[])[0]?.present ?? 0;
}

export async function markMissingRows(
  connection: PgConnection,
  table: Table,
  extent: Extent,
  seen: readonly Row[],
  stamp: Stamp,
): Promise<number> {
  const { text, values } = missingStatement(table, extent);
  const keys = table.key.map((_, position) => arrayText(seen.map((row) => row[position])));
  const newer = newerMissingStatement(table, extent);
  await refuseNewer(connection, table, { ...newer, values: [...keys, ...newer.values] }, stamp);
  const { rowCount } = await runStatement(connection, text, [stamp.at, stamp.runId, ...keys, ...values]);
  return rowCount ?? 0;
}
