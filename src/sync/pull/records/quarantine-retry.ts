// Retries quarantined records. A record that is valid now is loaded, and removed from quarantine in the same transaction. A
// payload with masked values is not loaded, because the mask would be stored as the value. Neither is a record that was
// rejected because of others, such as one part of a driver's day, because alone it would pass for the complete day. Of
// several versions of a record only the newest is loaded, and never over a row that was stored after it was last seen.

import { REDACTED } from '../../../core/text/redaction.ts';
import { isoInstant } from '../../../core/time/clock.ts';
import { type QuarantinedRecord, quarantine, quarantineRows } from '../../../warehouse/control/quarantine.ts';
import type { Transaction } from '../../../warehouse/engine.ts';
import { keyPositions, keyText } from '../../../warehouse/load/key-set.ts';
import { StaleRead } from '../../../warehouse/load/stale-read.ts';
import type { SyncDependencies } from '../../dependencies.ts';
import type { NamedJob } from '../../job.ts';
import { mapRecords } from './map-records.ts';

export interface RetryResult {
  id: string;
  loaded: boolean;
  reason: string | null;
}

type RetryDependencies = Pick<SyncDependencies, 'engine' | 'clock' | 'redactor' | 'privacy'>;

export async function retryQuarantined(
  kept: readonly QuarantinedRecord[],
  jobs: readonly NamedJob[],
  runId: string,
  dependencies: RetryDependencies,
): Promise<RetryResult[]> {
  const results: RetryResult[] = [];
  for (const row of kept) results.push({ id: row.id, ...(await retryOne(row, jobs, runId, dependencies)) });
  return results;
}

async function retryOne(
  row: QuarantinedRecord,
  jobs: readonly NamedJob[],
  runId: string,
  { engine, clock, redactor, privacy }: RetryDependencies,
): Promise<Omit<RetryResult, 'id'>> {
  const job = jobs.find(({ name }) => name === row.job);
  const [endpoint, table] = job?.into?.find(([, into]) => into.name === row.table_name) ?? [];
  if (table === undefined) return { loaded: false, reason: `${row.job} does not fill ${row.table_name}` };
  if (row.payload.includes(REDACTED)) {
    return { loaded: false, reason: 'contains masked values; read the record again with `roadbook run`' };
  }
  if (row.is_part) {
    return { loaded: false, reason: `${row.reason}; read all of it again with \`roadbook run\`` };
  }
  const load = { table, endpoint: endpoint ?? undefined, records: [JSON.parse(row.payload)] };
  const mapped = await mapRecords(load, privacy);
  const positions = keyPositions(table);
  const keys = mapped.rows.map((each) => keyText(positions.map((at) => each[at] ?? null)));
  const metadata = { runId, at: isoInstant(clock.now()), readAt: row.last_seen_at };
  return engine
    .write(async (tx) => {
      const [invalid] = mapped.invalid;
      if (invalid !== undefined) {
        await quarantine(tx, quarantineRows(row.job, [invalid], redactor), metadata);
        return { loaded: false, reason: invalid.reason };
      }
      const newer = await tx
        .sql('sync_quarantine')
        .where({ table_name: table.name })
        .whereIn('record_key', keys)
        .where('last_seen_at', '>', row.last_seen_at)
        .first('id');
      if (newer !== undefined) {
        return { loaded: false, reason: `a newer version is in quarantine: ${newer.id.slice(0, 8)}` };
      }
      await tx.load(table, mapped.rows, metadata);
      await removeFromQuarantine(tx, row);
      return { loaded: true, reason: null };
    })
    .catch(async (thrown: unknown) => {
      if (!(thrown instanceof StaleRead)) throw thrown;
      await engine.write((tx) => removeFromQuarantine(tx, row));
      return { loaded: false, reason: 'a newer version is stored; this one was removed from quarantine' };
    });
}

const removeFromQuarantine = async ({ sql }: Transaction, { id }: QuarantinedRecord): Promise<void> => {
  await sql('sync_quarantine').where({ id }).delete();
};
