// Loads rows into PostgreSQL. First it looks up the keys. New rows go straight into the table by COPY, the fastest way.
// The others go by COPY into a temporary table, and from there only those that differ are written. This is safe because
// the locks (see locks.ts) keep all other writers of every process from the table, so no key can appear in between.
import { chunks } from '../../../core/chunks.ts';
import { eventDaysOf, hasDayFigures, type Loaded, unionOf } from '../../control/event-days.ts';
import type { DayOf, EventDays, LoadCounts, LoadMetadata, Row, RowRange, Scalar } from '../../engine.ts';
import { keyPositions } from '../../load/key-set.ts';
import { type DigestedRows, digestCount, digestsOf, someDigests } from '../../load/known-rows.ts';
import { daysOf } from '../../load/local-days.ts';
import { StaleRead } from '../../load/stale-read.ts';
import { quote, rowFields, type Table } from '../../schema/table.ts';
import { countRows, rowBatches } from '../row-batches.ts';
import { copyIn, copyLine, lineReader, NULL_FIELD } from './copy.ts';
import { arrayText, type PgConnection, runStatement } from './driver.ts';
import { ensureMonths, instantPosition, monthOf, partitionOf } from './months.ts';
import {
  candidatePartitionsStatement,
  copyStatement,
  copyToStageStatement,
  historyStatement,
  isBetween,
  lookupStatement,
  missingIn,
  newerStatement,
  presentIn,
  revisionStatement,
  stageName,
  stageStatement,
  updateStatement,
} from './statements.ts';

/** Rows as COPY lines, encoded before the transaction begins. Of the rows, only what a lookup needs stays in memory. */
export interface CopyRows extends DigestedRows<CopyRows> {
  /** The lines, each with its line break. */
  readonly text: string;
  readonly keys: readonly Scalar[][];
  /** At least those of the rows. */
  readonly months: ReadonlySet<string>;
}

export function encodeRows(table: Table, rows: readonly Row[], dayOf: DayOf): CopyRows {
  const instantAt = instantPosition(table);
  const days = daysOf(table, rows, dayOf);
  const dayField = (index: number): string => (days === undefined ? '' : `\t${copyLine([days[index] ?? null])}`);
  const lines = rows.map((row, index) => `${copyLine(row)}${dayField(index)}`);
  return encodedRows(table, lines, {
    dayOf,
    eventDays: days !== undefined && hasDayFigures(table) ? eventDaysOf(rows, days) : undefined,
    digests: digestsOf(table, rows, lines),
    keys: keyPositions(table).map((position) => rows.map((row) => row[position] ?? null)),
    months: new Set(rows.map((row) => monthOf(row[instantAt]))),
  });
}

type Encoding = Omit<CopyRows, 'count' | 'text' | 'rows' | 'some'>;

function encodedRows(table: Table, lines: readonly string[], encoding: Encoding): CopyRows {
  const { digests, keys } = encoding;
  const text = lines.map((line) => `${line}\n`).join('');
  return {
    ...encoding,
    count: digestCount(digests),
    text,
    rows() {
      const fields = rowFields(table);
      const readLine = lineReader(fields.map(({ type }) => type));
      return linesOf(text).map((each) => readLine(each).slice(0, fields.length));
    },
    some(positions) {
      const all = linesOf(text);
      const picked = <Value>(values: readonly Value[]) => positions.map((at) => values[at] as Value);
      return encodedRows(table, picked(all), {
        ...encoding,
        digests: someDigests(digests, positions),
        keys: keys.map(picked),
      });
    },
  };
}

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);

/** Rows per round of statements: a typical slice. */
const BATCH_ROWS = 25_000;
/** Lines per text of a COPY that is put together from single lines. */
const TEXT_LINES = 4_000;

export async function loadRows(
  connection: PgConnection,
  table: Table,
  encoded: readonly CopyRows[],
  metadata: LoadMetadata,
): Promise<Loaded> {
  const counts: LoadCounts = { inserted: 0, updated: 0, unchanged: 0 };
  const batches = rowBatches(encoded, BATCH_ROWS);
  if (batches.length === 0) return { ...counts, eventDays: undefined };
  const eventDays = encoded.map((each) => each.eventDays);
  const months = new Set(encoded.flatMap((each) => [...each.months]));
  const parts = table.partitionBy === null ? undefined : await ensureMonths(connection, table, months);
  const lineEnd = `\t${copyLine([metadata.at, metadata.at, metadata.runId])}\n`;
  for (const batch of batches) {
    const stored = await storedRows(connection, table, batch, { parts, metadata });
    if (hasDayFigures(table)) eventDays.push(storedDays(stored));
    const { fresh, known } = splitByKey(batch, stored);
    const updated = await mergeRows(connection, table, { fresh, known }, metadata);
    const inserted = countRows(batch) - known.length;
    // No value contains a line break: copyLine escapes it.
    const texts = stored.size === 0 ? batch.map(({ text }) => text) : textsOf(fresh());
    if (inserted > 0) await copyIn(connection, copyStatement(table), withLineEnd(texts, lineEnd));
    counts.inserted += inserted;
    counts.updated += updated;
    counts.unchanged += known.length - updated;
  }
  return { ...counts, eventDays: unionOf(eventDays) };
}

/** The days and vehicles that the rows had before. */
function storedDays(stored: ReadonlyMap<number, Stored>): EventDays | undefined {
  const rows = [...stored.values()];
  const days = rows.flatMap(({ day }) => day ?? []).sort();
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return { vehicles: new Set(rows.map(({ vehicle_id }) => vehicle_id ?? null)), first, last };
}

function* withLineEnd(texts: readonly string[], lineEnd: string): Generator<string> {
  for (const text of texts) yield text.replaceAll('\n', lineEnd);
}

const textsOf = (lines: readonly string[]): string[] =>
  [...chunks(lines, TEXT_LINES)].map((some) => `${some.join('\n')}\n`);

/**
 * The planner has no statistics of staged rows. Without this it reads a full month for each batch instead of using the
 * index for each key, and the cost grows with the stored rows.
 */
const USE_KEY_INDEX = 'set local enable_hashjoin = off; set local enable_mergejoin = off';
const ALLOW_ALL_JOINS = 'set local enable_hashjoin to default; set local enable_mergejoin to default';

interface KnownRow extends Stored {
  line: string;
}

interface Stored {
  part: string;
  is_newer: boolean;
  /** Of a stored event. */
  day?: string | null;
  vehicle_id?: number | null;
}

/** The stored rows that have a key of the batch, by the place of the row in the batch, from 1. */
async function storedRows(
  connection: PgConnection,
  table: Table,
  batch: readonly CopyRows[],
  { parts, metadata }: { parts: readonly string[] | undefined; metadata: LoadMetadata },
): Promise<Map<number, Stored>> {
  const keys = table.key.map((_, index) => batch.flatMap((each) => each.keys[index] ?? []));
  const targets = parts === undefined ? [table.name] : await candidatePartitions(connection, table, keys, parts);
  if (targets.length === 0) return new Map();
  const values = [...keys.map(arrayText), metadata.readAt, metadata.at];
  const { rows } = await runStatement(connection, lookupStatement(table, targets), values);
  return new Map((rows as (Stored & { place: number })[]).map((each) => [each.place, each]));
}

function splitByKey(batch: readonly CopyRows[], stored: ReadonlyMap<number, Stored>) {
  const allLines = (): string[] => batch.flatMap(({ text }) => linesOf(text));
  // The usual case of new data: its lines are sent as they are.
  if (stored.size === 0) return { fresh: allLines, known: [] };
  const fresh: string[] = [];
  const known: KnownRow[] = [];
  for (const [index, line] of allLines().entries()) {
    const found = stored.get(index + 1);
    if (found === undefined) fresh.push(line);
    else known.push({ ...found, line });
  }
  return { fresh: () => fresh, known };
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
  { fresh, known }: ReturnType<typeof splitByKey>,
  metadata: LoadMetadata,
): Promise<number> {
  const { at, runId } = metadata;
  const hasHistory = table.history !== null || table.revisions !== null;
  const partOfLine = partitionOfLine(table);
  const places = known.map(({ line, part }) => (part === partOfLine(line) ? part : null));
  const staged = known.map(({ line, is_newer }, index) => `${line}\t${copyLine([places[index] ?? null, is_newer])}`);
  if (hasHistory) staged.push(...fresh().map((line) => `${line}\t${copyLine([null, false])}`));
  if (staged.length === 0) return 0;
  const ready = [stageStatement(table), `truncate ${stageName(table)}`, USE_KEY_INDEX];
  await runStatement(connection, ready.join('; '));
  await copyIn(connection, copyToStageStatement(table), textsOf(staged));
  if (known.some(({ is_newer }) => is_newer)) await rejectStale(connection, table, newerStatement(table));
  if (table.history !== null) {
    await runStatement(connection, historyStatement(table, table.history), [at, runId]);
  }
  if (table.revisions !== null) {
    await runStatement(connection, revisionStatement(table, table.revisions), [at, runId]);
  }
  let updated = 0;
  for (const part of new Set(places)) {
    const { rowCount } = await runStatement(connection, updateStatement(table, part ?? undefined), [at, runId]);
    updated += rowCount ?? 0;
  }
  await runStatement(connection, ALLOW_ALL_JOINS);
  return updated;
}

/** Finds the partition of a line, or the table's name if it has no partitions. */
function partitionOfLine(table: Table): (line: string) => string | undefined {
  if (table.partitionBy === null) return () => table.name;
  const position = instantPosition(table);
  return (line) => {
    const field = line.split('\t', position + 1)[position];
    return partitionOf(table, field === NULL_FIELD ? '' : monthOf(field));
  };
}

/** Throws StaleRead if the statement counts rows that were written after the read began. */
async function rejectStale(
  connection: PgConnection,
  table: Table,
  text: string,
  values: readonly string[] = [],
): Promise<void> {
  const { rows } = await runStatement(connection, text, values);
  const newer = Number((rows as { newer: number }[])[0]?.newer ?? 0);
  if (newer > 0) throw new StaleRead(table.name, newer);
}

export async function hasPresentRows(connection: PgConnection, table: Table, range: RowRange): Promise<boolean> {
  const { sql, values } = presentIn(table, range);
  const { rows } = await runStatement(connection, `select 1 from ${quote(table.name)} where ${sql} limit 1`, values);
  return rows.length > 0;
}

export async function countPresentRows(connection: PgConnection, table: Table, range: RowRange): Promise<number> {
  const { sql, values } = presentIn(table, range);
  const statement = `select count(*) as present from ${quote(table.name)} where ${sql}`;
  const { rows } = await runStatement(connection, statement, values);
  return (rows as { present: number }[])[0]?.present ?? 0;
}

export async function markMissingRows(
  connection: PgConnection,
  table: Table,
  range: RowRange,
  seen: readonly Row[],
  { readAt, at, runId }: LoadMetadata,
): Promise<number> {
  const { sql: missing, values } = missingIn(table, range, seen);
  const newer = `select count(*) as newer from ${quote(table.name)} as row where ${isBetween('row', 1)} and ${missing}`;
  await rejectStale(connection, table, newer, [readAt, at, ...values]);
  const mark = `update ${quote(table.name)} as row set _missing_since = $1, _changed_at = $1, _run_id = $2 where ${missing}`;
  const { rowCount } = await runStatement(connection, mark, [at, runId, ...values]);
  return rowCount ?? 0;
}
