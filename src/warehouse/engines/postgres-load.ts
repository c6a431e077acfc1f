// Loads rows into PostgreSQL. The keys are looked up first: rows that are new go straight into the table by COPY, the
// fastest way there is; the others go by COPY into a temporary table and from there only where they differ. That is
// sound because every writing transaction of every process holds the same lock, so no key can appear in between.
import type { LoadCounts, LoadMetadata, Row, RowRange, Scalar } from '../engine.ts';
import { StaleRead } from '../stale-read.ts';
import type { Table } from '../table.ts';
import { recordColumns } from '../table.ts';
import { copyIn } from './postgres-copy.ts';
import type { PgConnection } from './postgres-driver.ts';
import { ensureMonths, partTeller } from './postgres-months.ts';
import { arrayText, runStatement } from './postgres-statement.ts';
import {
  anyPresentStatement,
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

/** Rows a round of statements: those of a usual slice. Each statement more is a time in which the server waits. */
const BATCH_ROWS = 25_000;

export async function loadRows(
  connection: PgConnection,
  table: Table,
  rows: readonly Row[],
  metadata: LoadMetadata,
): Promise<LoadCounts> {
  const counts: LoadCounts = { inserted: 0, updated: 0, unchanged: 0 };
  if (rows.length === 0) return counts;
  const parts =
    table.monthsOf === null ? undefined : await ensureMonths(connection, table, table.monthsOf, rows);
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    const batch = rows.slice(start, start + BATCH_ROWS);
    const { fresh, known } = await sortByKey(connection, table, batch, { parts, metadata });
    const updated = await mergeRows(connection, table, { fresh, known }, metadata);
    if (fresh.length > 0) {
      const tail = [metadata.at, metadata.at, metadata.runId];
      await copyIn(connection, copyStatement(table), { rows: fresh, tail });
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
  /** Each with the part that its stored row is in. */
  known: { row: Row; part: string; isNewer: boolean }[];
}

interface Found {
  place: number;
  part: string;
  is_newer: boolean;
}

async function sortByKey(
  connection: PgConnection,
  table: Table,
  rows: readonly Row[],
  { parts, metadata }: { parts: readonly string[] | undefined; metadata: LoadMetadata },
): Promise<Sorted> {
  const keys = keyColumns(table, rows);
  const near = parts === undefined ? [table.name] : nearParts(connection, table, keys, parts);
  const values = [...keys.map(arrayText), metadata.readAt, metadata.at];
  const targets = await near;
  const found = new Map<number, { part: string; isNewer: boolean }>();
  if (targets.length > 0) {
    const result = await runStatement(connection, lookupStatement(table, targets), values);
    for (const { place, part, is_newer } of result.rows as Found[])
      found.set(place, { part, isNewer: is_newer });
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
  metadata: LoadMetadata,
): Promise<number> {
  const { at, runId } = metadata;
  const isTold = table.history !== null || table.revisions !== null;
  const partOf = table.monthsOf === null ? () => table.name : partTeller(table, table.monthsOf);
  const places = known.map(({ row, part }) => (part === partOf(row) ? part : null));
  const staged = known.map(({ row }) => row).concat(isTold ? fresh : []);
  if (staged.length === 0) return 0;
  const ready = [stageStatement(table), `truncate ${stageName(table)}`, LOOK_UP_EACH];
  await runStatement(connection, ready.join('; '));
  await copyIn(connection, copyToStageStatement(table), {
    rows: staged,
    as: (row, index) => [...row, places[index] ?? null, known[index]?.isNewer ?? false],
  });
  if (known.some(({ isNewer }) => isNewer)) {
    await refuseNewer(connection, table, { text: newerStatement(table), values: [] });
  }
  if (table.history !== null) {
    await runStatement(connection, historyStatement(table, table.history), [at, runId]);
  }
  if (table.revisions !== null) {
    await runStatement(connection, revisionStatement(table, table.revisions), [at, runId]);
  }
  let updated = 0;
  for (const part of new Set(places)) {
    const { rowCount } = await runStatement(connection, updateStatement(table, part ?? undefined), [
      at,
      runId,
    ]);
    updated += rowCount ?? 0;
  }
  await runStatement(connection, JOIN_FREELY);
  return updated;
}

/** Throws where the statement counts rows that were written since these were read. */
async function refuseNewer(
  connection: PgConnection,
  table: Table,
  { text, values }: { text: string; values: string[] },
): Promise<void> {
  const { rows } = await runStatement(connection, text, values);
  const newer = Number((rows as { newer: number }[])[0]?.newer ?? 0);
  if (newer > 0) throw new StaleRead(table.name, newer);
}

export async function hasPresentRows(
  connection: PgConnection,
  table: Table,
  range: RowRange,
): Promise<boolean> {
  const { text, values } = anyPresentStatement(table, range);
  return (await runStatement(connection, text, values)).rows.length > 0;
}

export async function countPresentRows(
  connection: PgConnection,
  table: Table,
  range: RowRange,
): Promise<number> {
  const { text, values } = presentStatement(table, range);
  const { rows } = await runStatement(connection, text, values);
  return (rows as { present: number }[])[0]?.present ?? 0;
}

export async function markMissingRows(
  connection: PgConnection,
  table: Table,
  range: RowRange,
  seen: readonly Row[],
  metadata: LoadMetadata,
): Promise<number> {
  const { text, values } = missingStatement(table, range);
  const keys = table.key.map((_, position) => arrayText(seen.map((row) => row[position])));
  const newer = newerMissingStatement(table, range);
  const since = [metadata.readAt, metadata.at];
  await refuseNewer(connection, table, { ...newer, values: [...since, ...keys, ...newer.values] });
  const { rowCount } = await runStatement(connection, text, [
    metadata.at,
    metadata.runId,
    ...keys,
    ...values,
  ]);
  return rowCount ?? 0;
}
