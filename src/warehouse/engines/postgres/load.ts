// Loads rows into PostgreSQL. First it looks up the keys. New rows go straight into the table by COPY, the fastest way.
// The others go by COPY into a temporary table, and from there only those that differ are written. This is safe because
// the locks (see locks.ts) keep all other writers of every process from the table, so no key can appear in between.
import { chunks } from '../../../core/chunks.ts';
import type { LoadCounts, LoadMetadata, Row, RowRange, Scalar, WrittenRows } from '../../engine.ts';
import { StaleRead } from '../../load/stale-read.ts';
import type { Table } from '../../schema/table.ts';
import { recordColumns } from '../../schema/table.ts';
import { copyIn, copyLine } from './copy.ts';
import type { PgConnection } from './driver.ts';
import { ensureMonths, partitionFinder } from './months.ts';
import { arrayText, runStatement } from './statement.ts';
import {
  anyPresentStatement,
  candidatePartitionsStatement,
  copyStatement,
  copyToStageStatement,
  historyStatement,
  lookupStatement,
  missingStatement,
  newerMissingStatement,
  newerStatement,
  presentStatement,
  revisionStatement,
  stageName,
  stageStatement,
  updateStatement,
} from './statements.ts';

/** Rows with their COPY lines, encoded before the transaction begins. */
export interface CopyRows extends WrittenRows {
  readonly lines: readonly string[];
}

export const writeDown = (rows: readonly Row[]): CopyRows => ({
  count: rows.length,
  rows: () => rows,
  lines: rows.map(copyLine),
});

/** Rows per round of statements: a typical slice. The server is idle between statements, so fewer are faster. */
const BATCH_ROWS = 25_000;

export async function loadRows(
  connection: PgConnection,
  table: Table,
  written: readonly CopyRows[],
  metadata: LoadMetadata,
): Promise<LoadCounts> {
  const counts: LoadCounts = { inserted: 0, updated: 0, unchanged: 0 };
  const all = written.flatMap((each) =>
    each.rows().map((row, index) => ({ row, line: each.lines[index] ?? '' })),
  );
  if (all.length === 0) return counts;
  const months =
    table.partitionBy === null ? undefined : await ensureMonths(connection, table, table.partitionBy, all);
  for (const rows of chunks(all, BATCH_ROWS)) {
    const { fresh, known } = await splitByKey(connection, table, rows, { parts: months, metadata });
    const updated = await mergeRows(connection, table, { fresh, known }, metadata);
    const lines = fresh.map(({ line }) => line);
    const end = `\t${copyLine([metadata.at, metadata.at, metadata.runId])}`;
    if (lines.length > 0) await copyIn(connection, copyStatement(table), lines, end);
    counts.inserted += fresh.length;
    counts.updated += updated;
    counts.unchanged += known.length - updated;
  }
  return counts;
}

/**
 * The planner has no statistics of staged rows. Without this it reads a full month for each batch instead of using the
 * index for each key, and the cost grows with the stored rows.
 */
const USE_KEY_INDEX = 'set local enable_hashjoin = off; set local enable_mergejoin = off';
const ALLOW_ALL_JOINS = 'set local enable_hashjoin to default; set local enable_mergejoin to default';

interface CopyRow {
  row: Row;
  line: string;
}

interface SplitRows {
  fresh: readonly CopyRow[];
  /** Each with the partition of its stored row. */
  known: readonly (CopyRow & { part: string; isNewer: boolean })[];
}

interface Found {
  place: number;
  part: string;
  is_newer: boolean;
}

async function splitByKey(
  connection: PgConnection,
  table: Table,
  rows: readonly CopyRow[],
  { parts, metadata }: { parts: readonly string[] | undefined; metadata: LoadMetadata },
): Promise<SplitRows> {
  const keys = keyColumns(table, rows);
  const targets =
    parts === undefined ? [table.name] : await candidatePartitions(connection, table, keys, parts);
  if (targets.length === 0) return { fresh: rows, known: [] };
  const values = [...keys.map(arrayText), metadata.readAt, metadata.at];
  const result = await runStatement(connection, lookupStatement(table, targets), values);
  const found = new Map((result.rows as Found[]).map((each) => [each.place, each]));
  const fresh: CopyRow[] = [];
  const known: SplitRows['known'][number][] = [];
  for (const [index, each] of rows.entries()) {
    const stored = found.get(index + 1);
    if (stored === undefined) fresh.push(each);
    else known.push({ ...each, part: stored.part, isNewer: stored.is_newer });
  }
  return { fresh, known };
}

/** The values of each key column. */
function keyColumns(table: Table, rows: readonly CopyRow[]): Scalar[][] {
  const columns = recordColumns(table);
  return table.key.map((name) => {
    const position = columns.findIndex((column) => column.name === name);
    return rows.map(({ row }) => row[position] ?? null);
  });
}

/** The partitions that may contain a row of the batch. */
async function candidatePartitions(
  connection: PgConnection,
  table: Table,
  keys: readonly Scalar[][],
  parts: readonly string[],
): Promise<string[]> {
  const lasts = keys.at(-1) ?? [];
  const leads = keys.slice(0, -1);
  const spans = new Map<string, { lead: Scalar[]; least: number | bigint; greatest: number | bigint }>();
  for (const [index, last] of lasts.entries()) {
    const name = leads.map((column) => column[index]).join();
    // A key beyond 2^53 is text.
    const value = typeof last === 'number' ? last : BigInt(last as string);
    const span = spans.get(name);
    if (span === undefined) {
      const lead = leads.map((column) => column[index] ?? null);
      spans.set(name, { lead, least: value, greatest: value });
    } else if (value < span.least) span.least = value;
    else if (value > span.greatest) span.greatest = value;
  }
  const all = [...spans.values()];
  const values = [
    ...leads.map((_, index) => arrayText(all.map(({ lead }) => lead[index]))),
    `{${all.map(({ least }) => least).join(',')}}`,
    `{${all.map(({ greatest }) => greatest).join(',')}}`,
  ];
  const { rows } = await runStatement(connection, candidatePartitionsStatement(table, parts), values);
  return (rows as { part: string }[]).map(({ part }) => part);
}

/** Writes the rows that differ, with their history. Returns how many rows were updated. */
async function mergeRows(
  connection: PgConnection,
  table: Table,
  { fresh, known }: SplitRows,
  metadata: LoadMetadata,
): Promise<number> {
  const { at, runId } = metadata;
  const hasHistory = table.history !== null || table.revisions !== null;
  const partitionOf =
    table.partitionBy === null ? () => table.name : partitionFinder(table, table.partitionBy);
  const places = known.map(({ row, part }) => (part === partitionOf(row) ? part : null));
  const staged = known.map(
    ({ line, isNewer }, index) => `${line}\t${copyLine([places[index] ?? null, isNewer])}`,
  );
  if (hasHistory) staged.push(...fresh.map(({ line }) => `${line}\t${copyLine([null, false])}`));
  if (staged.length === 0) return 0;
  const ready = [stageStatement(table), `truncate ${stageName(table)}`, USE_KEY_INDEX];
  await runStatement(connection, ready.join('; '));
  await copyIn(connection, copyToStageStatement(table), staged);
  if (known.some(({ isNewer }) => isNewer)) {
    await rejectStale(connection, table, { text: newerStatement(table), values: [] });
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
  await runStatement(connection, ALLOW_ALL_JOINS);
  return updated;
}

/** Throws StaleRead if the statement counts rows that were written after the read began. */
async function rejectStale(
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
  await rejectStale(connection, table, { ...newer, values: [...since, ...keys, ...newer.values] });
  const { rowCount } = await runStatement(connection, text, [
    metadata.at,
    metadata.runId,
    ...keys,
    ...values,
  ]);
  return rowCount ?? 0;
}
