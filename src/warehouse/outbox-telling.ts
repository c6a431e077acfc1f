// Which entries the ERP has not been told of in their present state, and the mark that says that it has.
import type { Knex } from 'knex';
import { keyOf, type OutboxEntry } from './outbox-entry.ts';

const PAGE = 200;

/** A page of them, by code. `idAwaitedSince`: one confirmed later than this may still wait for its identifier. */
export const untoldEntries = (
  sql: Knex,
  kind: string,
  idAwaitedSince: string,
  afterCode: string,
): Promise<OutboxEntry[]> =>
  sql('push_outbox')
    .where({ kind })
    .where('external_code', '>', afterCode)
    .whereNull('told_at')
    .whereIn('state', ['confirmed', 'rejected', 'cancelled', 'unknown'])
    .where((or) =>
      or
        .whereNot({ state: 'confirmed' })
        .orWhereNotNull('remote_id')
        .orWhere('confirmed_at', '<=', idAwaitedSince),
    )
    .orderBy('external_code')
    .limit(PAGE);

/** An entry that moved meanwhile stays to be told; a final one needs its code in clear no more. */
export async function markTold(sql: Knex, entries: readonly OutboxEntry[], at: string): Promise<void> {
  for (const entry of entries) {
    await sql('push_outbox')
      .where({ ...keyOf(entry), revision: entry.revision })
      .update({ told_at: at, ...(entry.state !== 'unknown' && { erp_code: null }) });
  }
}
