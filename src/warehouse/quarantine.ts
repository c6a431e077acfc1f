// Keeps the records that did not fit. Their texts are redacted first: a control table holds no secret and no
// tax number. The same record met again is counted, not stored again; one that has been loaded since is let go.
import { createHash } from 'node:crypto';
import { type Redactor, redactedJson } from '../core/redaction.ts';
import type { Engine, Stamp, Transaction } from './engine.ts';

export interface Misfit {
  table: string;
  /** Key of the record where it has one. */
  key: string | null;
  reason: string;
  /** It is not whole, or was refused because of what came beside it: by itself it can never be loaded. */
  isPart?: boolean;
  /** As the service sent it, less what is nested too deep. */
  record: unknown;
}

export interface QuarantinedRecord {
  id: string;
  job: string;
  table_name: string;
  record_key: string | null;
  reason: string;
  is_part: boolean;
  payload: string;
  first_seen_at: string;
  last_seen_at: string;
  times: number;
  run_id: string;
}

export async function quarantine(
  { sql }: Transaction,
  job: string,
  misfits: readonly Misfit[],
  stamp: Pick<Stamp, 'runId' | 'at'>,
  redactor: Redactor,
): Promise<void> {
  for (const { table, key, reason, isPart = false, record } of misfits) {
    const payload = redactedJson(record, redactor.redact);
    const id = createHash('sha256').update(`${table}\n${payload}`).digest('hex').slice(0, 32);
    const met = {
      reason: redactor.redact(reason),
      is_part: isPart,
      last_seen_at: stamp.at,
      run_id: stamp.runId,
    };
    await sql('sync_quarantine')
      .insert({
        id,
        job,
        table_name: table,
        record_key: key === null ? null : redactor.redact(key),
        payload,
        first_seen_at: stamp.at,
        times: 1,
        ...met,
      })
      .onConflict('id')
      .merge({ ...met, times: sql.raw('sync_quarantine.times + 1') });
  }
}

/** Lets go of the records of a table whose keys have been loaded after all. */
export async function release({ sql }: Transaction, table: string, keysOf: () => string[]): Promise<number> {
  const kept: Pick<QuarantinedRecord, 'id' | 'record_key'>[] = await sql('sync_quarantine')
    .where({ table_name: table })
    .whereNotNull('record_key')
    .select('id', 'record_key');
  if (kept.length === 0) return 0;
  const loaded = new Set(keysOf());
  const gone = kept.filter(({ record_key }) => loaded.has(record_key ?? '')).map(({ id }) => id);
  for (let start = 0; start < gone.length; start += 500) {
    await sql('sync_quarantine')
      .whereIn('id', gone.slice(start, start + 500))
      .delete();
  }
  return gone.length;
}

export interface QuarantineFilter {
  job?: string;
  table?: string;
  /** The start of an id is enough. */
  id?: string;
}

/** The newest first. */
export const quarantined = (
  engine: Pick<Engine, 'read'>,
  { job, table, id }: QuarantineFilter,
  limit: number,
  offset = 0,
): Promise<QuarantinedRecord[]> =>
  engine.read(async (sql) => {
    // Anything else could be a pattern that matches other ids.
    if (id !== undefined && !/^[0-9a-f]+$/.test(id)) return [];
    const rows = sql<QuarantinedRecord>('sync_quarantine')
      .orderBy('last_seen_at', 'desc')
      .orderBy('id')
      .limit(limit)
      .offset(offset);
    if (job !== undefined) rows.where({ job });
    if (table !== undefined) rows.where({ table_name: table });
    if (id !== undefined) rows.whereLike('id', `${id}%`);
    // SQLite has no booleans.
    return (await rows).map((row) => ({ ...row, is_part: Boolean(row.is_part) }));
  });
