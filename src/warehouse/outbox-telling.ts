// Which entries the ERP has not been told of in their present state, and the mark that says that it has.
import type { Knex } from 'knex';
import { keyOf, type OutboxEntry } from './outbox-entry.ts';
import { WATCH_MS } from './outbox-search.ts';

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

/**
 * An entry that moved meanwhile was told an older state, perhaps after another process had told the newer one: it
 * is to be told again.
 */
export async function markTold(sql: Knex, entries: readonly OutboxEntry[], at: string): Promise<void> {
  for (const entry of entries) {
    const marked = await sql('push_outbox')
      .where({ ...keyOf(entry), revision: entry.revision })
      .update({ told_at: at });
    if (marked === 0) await sql('push_outbox').where(keyOf(entry)).update({ told_at: null });
  }
}

export interface ToldCodes {
  /** ISO instant of now. */
  at: string;
  /** What was refused before this instant cannot be sent again. */
  refusedBefore: string;
}

/** The code in clear is kept as long as something may still have to be told under it, and no longer. */
export async function dropToldCodes(
  sql: Knex,
  kind: string,
  { at, refusedBefore }: ToldCodes,
): Promise<void> {
  const watchedSince = new Date(Date.parse(at) - WATCH_MS).toISOString();
  await sql('push_outbox')
    .where({ kind })
    .whereNotNull('erp_code')
    .whereNotNull('told_at')
    .where((or) =>
      or
        .where({ state: 'cancelled' })
        .orWhere((refused) => refused.where({ state: 'rejected' }).where('updated_at', '<', refusedBefore))
        .orWhere((confirmed) =>
          confirmed
            .where({ state: 'confirmed' })
            .where((done) =>
              done
                .whereNull('is_watched')
                .orWhere('is_watched', false)
                .orWhere('confirmed_at', '<=', watchedSince),
            ),
        ),
    )
    .update({ erp_code: null });
}
