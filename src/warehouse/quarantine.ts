// Keeps the records that did not fit. Their texts are redacted first: a control table holds no secret and no
// tax number. The same record met again is counted, not stored again.
import { createHash } from 'node:crypto';
import type { Redactor } from '../core/redaction.ts';
import type { Stamp, Transaction } from './engine.ts';

export interface Misfit {
  table: string;
  /** Key of the record where it has one. */
  key: string | null;
  reason: string;
  /** As the service sent it. */
  record: unknown;
}

export async function quarantine(
  { sql }: Transaction,
  job: string,
  misfits: readonly Misfit[],
  stamp: Stamp,
  redactor: Redactor,
): Promise<void> {
  for (const { table, key, reason, record } of misfits) {
    const payload = redactor.redact(JSON.stringify(record) ?? 'null');
    const id = createHash('sha256').update(`${table}\n${payload}`).digest('hex').slice(0, 32);
    await sql('sync_quarantine')
      .insert({
        id,
        job,
        table_name: table,
        record_key: key === null ? null : redactor.redact(key),
        reason: redactor.redact(reason),
        payload,
        first_seen_at: stamp.at,
        last_seen_at: stamp.at,
        times: 1,
        run_id: stamp.runId,
      })
      .onConflict('id')
      .merge({
        reason: redactor.redact(reason),
        last_seen_at: stamp.at,
        run_id: stamp.runId,
        times: sql.raw('sync_quarantine.times + 1'),
      });
  }
}
