// Stores invalid records. Their texts are redacted first: a control table holds no secret and no tax number. A record
// that is read again is counted, not stored again. A record that has been loaded since is deleted.
import { hash } from 'node:crypto';
import { chunks } from '../../core/chunks.ts';
import { type Redactor, redactedJson } from '../../core/text/redaction.ts';
import type { Engine, LoadMetadata, Transaction } from '../engine.ts';
import { boolean, controlTable, instant, integer, json, type RowOf, type Table, text } from '../schema/table.ts';

export const syncQuarantine = controlTable({
  name: 'sync_quarantine',
  meaning: 'Invalid records: records that do not fit their table, kept in full with the reason.',
  key: ['id'],
  retentionBy: 'last_seen_at',
  columns: {
    id: text('Digest of table, key and payload.'),
    job: text('Job that read the record.', { required: true }),
    table_name: text('Table of the record.', { required: true }),
    record_key: text('Key of the record; null if it has none.', { personal: true }),
    reason: text('Why the record is invalid: field paths and expectations.', { required: true }),
    is_part: boolean('The record is incomplete, or invalid because of another record: only a new read can load it.'),
    payload: json('The record; secrets and tax numbers masked.', { personal: true, required: true }),
    first_seen_at: instant('When the record was first read.', { required: true }),
    last_seen_at: instant('When the record was last read.', { required: true }),
    times: integer('How often the record was read.', { required: true }),
    run_id: text('The run that last read the record.', { required: true }),
  },
  indexes: [['table_name', 'record_key', 'first_seen_at']],
});

export interface InvalidRecord {
  table: Table;
  /** Null if the record has no key. */
  key: string | null;
  reason: string;
  /** The record is incomplete, or invalid because of another record: it can never be loaded on its own. */
  isPart?: boolean;
  /** As the service sent it, without parts that are nested too deep. */
  record: unknown;
}

export interface QuarantinedRecord extends RowOf<typeof syncQuarantine> {
  is_part: boolean;
}

/** The columns of a record that are known before its load. */
type QuarantineRow = Omit<QuarantinedRecord, 'first_seen_at' | 'last_seen_at' | 'run_id'>;

/** The rows of invalid records, each record once. Built before the transaction, because other writes wait for that. */
export function quarantineRows(job: string, invalid: readonly InvalidRecord[], { redact }: Redactor): QuarantineRow[] {
  const rows = new Map<string, QuarantineRow>();
  for (const { table, key, reason, isPart = false, record } of invalid) {
    const payload = redactedJson(record, redact);
    const record_key = key === null ? null : quarantineKey(table, key, redact);
    // With the key: two records may be equal once their numbers are masked.
    const id = hash('sha256', `${table.name}\n${record_key}\n${payload}`).slice(0, 32);
    rows.set(id, {
      id,
      job,
      table_name: table.name,
      record_key,
      reason: redact(reason),
      is_part: isPart,
      payload,
      times: (rows.get(id)?.times ?? 0) + 1,
    });
  }
  return [...rows.values()];
}

/** A numeric key can look like a tax number. It is not masked, or records would have the same key. */
export const hasNumericKey = ({ key, columns }: Table): boolean =>
  key.every((part) => columns.find(({ name }) => name === part)?.type === 'integer');

const quarantineKey = (table: Table, key: string, redact: Redactor['redact']): string =>
  hasNumericKey(table) ? key : redact(key);

const ROWS_AT_ONCE = 5_000;

export async function quarantine(
  { store }: Transaction,
  rows: readonly QuarantineRow[],
  { readAt, runId }: Pick<LoadMetadata, 'runId' | 'readAt'>,
): Promise<void> {
  for (const some of chunks(rows, ROWS_AT_ONCE)) {
    const stored = some.map((row) => ({ ...row, first_seen_at: readAt, last_seen_at: readAt, run_id: runId }));
    await store(syncQuarantine, stored, {
      set: { first_seen_at: 'sync_quarantine.first_seen_at', times: 'sync_quarantine.times + excluded.times' },
    });
  }
}

/** Deletes the records of a table whose keys were loaded by a later read. Returns how many. */
export async function release(
  { sql }: Transaction,
  table: Table,
  keysOf: () => string[],
  { readAt, redact }: Pick<LoadMetadata, 'readAt'> & Pick<Redactor, 'redact'>,
): Promise<number> {
  const kept = () => sql('sync_quarantine').where({ table_name: table.name }).where('last_seen_at', '<=', readAt);
  // Usually the quarantine has none for the table. Then the keys are not computed.
  if ((await kept().whereNotNull('record_key').first('id')) === undefined) return 0;
  const keys = keysOf().map((key) => quarantineKey(table, key, redact));
  let released = 0;
  for (const some of chunks(keys, ROWS_AT_ONCE)) released += await kept().whereIn('record_key', some).delete();
  return released;
}

export interface QuarantineFilter {
  job?: string;
  table?: string;
  /** Beginning of the id. */
  id?: string;
  /** The last record of the page before. */
  after?: Pick<QuarantinedRecord, 'id' | 'last_seen_at'>;
}

export interface QuarantineTotal {
  records: number;
  /** When the newest record was first read, its other versions included; null if there is none. */
  newest: string | null;
}

export const quarantineTotal = (engine: Pick<Engine, 'read'>): Promise<QuarantineTotal> =>
  engine.read(async (sql) => {
    const row = await sql('sync_quarantine').count({ records: '*' }).first();
    const first = sql.raw('case when record_key is null then max(first_seen_at) else min(first_seen_at) end as first');
    const keys = sql('sync_quarantine').groupBy('table_name', 'record_key').select(first);
    const newest = await sql.from(keys.as('record')).max({ newest: 'first' }).first();
    return { records: Number(row?.records), newest: newest?.newest ?? null };
  });

/** How many records each table has in quarantine; nothing of a table that has none. */
export const quarantineCounts = (engine: Pick<Engine, 'read'>): Promise<Map<string, number>> =>
  engine.read(async (sql) => {
    const rows: { table_name: string; n: number | string }[] = await sql('sync_quarantine')
      .groupBy('table_name')
      .select('table_name')
      .count({ n: '*' });
    return new Map(rows.map(({ table_name, n }) => [table_name, Number(n)]));
  });

/** Newest first. */
export const quarantined = (
  engine: Pick<Engine, 'read'>,
  { job, table, id, after }: QuarantineFilter,
  limit: number,
  offset = 0,
): Promise<QuarantinedRecord[]> =>
  engine.read(async (sql) => {
    // Any other character could be a wildcard that matches other ids.
    if (id !== undefined && !/^[0-9a-f]+$/.test(id)) return [];
    const rows = sql<QuarantinedRecord>('sync_quarantine')
      .orderBy('last_seen_at', 'desc')
      .orderBy('id')
      .limit(limit)
      .offset(offset);
    if (job !== undefined) rows.where({ job });
    if (table !== undefined) rows.where({ table_name: table });
    if (id !== undefined) rows.whereLike('id', `${id}%`);
    if (after !== undefined) {
      const { last_seen_at } = after;
      rows.where((or) =>
        or
          .where('last_seen_at', '<', last_seen_at)
          .orWhere((same) => same.where({ last_seen_at }).where('id', '>', after.id)),
      );
    }
    // SQLite has no booleans.
    return (await rows).map((row) => ({ ...row, is_part: Boolean(row.is_part) }));
  });
