// Tries quarantined records again: those that fit now are loaded, and let go in the same transaction. A payload
// with masked values is left alone, because the mask would be loaded as though it were the value; so is a record that
// was refused because of others, such as one part of a driver's day, because alone it would look whole.
import { isoInstant } from '../../core/clock.ts';
import { REDACTED } from '../../core/redaction.ts';
import { type QuarantinedRecord, quarantine } from '../../warehouse/quarantine.ts';
import type { NamedJob } from '../job.ts';
import type { SyncParts } from '../sync-parts.ts';
import { sortRecords } from './sorting.ts';

export interface RetryResult {
  id: string;
  loaded: boolean;
  reason: string | null;
}

type RetryParts = Pick<SyncParts, 'engine' | 'clock' | 'redactor' | 'privacy'>;

export async function retryQuarantined(
  kept: readonly QuarantinedRecord[],
  jobs: readonly NamedJob[],
  runId: string,
  parts: RetryParts,
): Promise<RetryResult[]> {
  const results: RetryResult[] = [];
  for (const row of kept) results.push({ id: row.id, ...(await retryOne(row, jobs, runId, parts)) });
  return results;
}

async function retryOne(
  row: QuarantinedRecord,
  jobs: readonly NamedJob[],
  runId: string,
  { engine, clock, redactor, privacy }: RetryParts,
): Promise<Omit<RetryResult, 'id'>> {
  const schema = jobs
    .find(({ name }) => name === row.job)
    ?.records?.find(({ table }) => table.name === row.table_name);
  if (schema === undefined) return { loaded: false, reason: `no job fills ${row.table_name} by ${row.job}` };
  if (row.payload.includes(REDACTED)) {
    return { loaded: false, reason: 'holds masked values; read it again with `roadbook run`' };
  }
  if (row.is_part) {
    return { loaded: false, reason: `${row.reason}; read all of it again with \`roadbook run\`` };
  }
  const { rows, misfits } = await sortRecords({ ...schema, records: [JSON.parse(row.payload)] }, privacy);
  const at = isoInstant(clock.now());
  const stamp = { runId, at, readAt: at };
  await engine.write(async (tx) => {
    await tx.load(schema.table, rows, stamp);
    if (misfits.length === 0) await tx.sql('sync_quarantine').where({ id: row.id }).delete();
    else await quarantine(tx, row.job, misfits, stamp, redactor);
  });
  return { loaded: misfits.length === 0, reason: misfits[0]?.reason ?? null };
}
