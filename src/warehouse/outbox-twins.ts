// Entries with one key, where one key is one thing at the service: of several codes with it one is sent, and the
// others are found. So what is known of one of them says whether another may be sent.
import type { Knex } from 'knex';
import type { Transaction } from './engine.ts';
import { isCertain, type OutboxEntry } from './outbox-entry.ts';
import { isUnchecked, isWatchedAt } from './outbox-search.ts';

/**
 * The code of another one that may be at the service though no search could show it yet; undefined where there is none.
 * The entry itself was searched for by this run.
 */
export async function unseenTwin(
  { sql }: Transaction,
  { kind, remote_key }: OutboxEntry,
  { runId, at }: { runId: string; at: string },
): Promise<string | undefined> {
  const other = await sql('push_outbox')
    .where({ kind, remote_key })
    .where((or) =>
      or
        .whereIn('state', ['sending', 'unknown'])
        .orWhere((and) => and.where({ state: 'ready' }).whereNot(isCertain).where(isUnchecked(runId)))
        .orWhere({ state: 'rejected', is_watched: true })
        .orWhere((and) => and.where({ state: 'confirmed' }).whereNull('seen_at').where(isWatchedAt(at))),
    )
    .first('external_code');
  return other?.external_code;
}

/** The codes of those under whose key another one may have arrived, unless a person has looked for them since. */
export async function codesWithTwins(sql: Knex, entries: readonly OutboxEntry[]): Promise<Set<string>> {
  const [first] = entries;
  if (first === undefined) return new Set();
  const lookedSince = sql('push_attempt as look')
    .whereRaw('look.kind = mine.kind and look.external_code = mine.external_code')
    .where('look.outcome', 'vouched')
    .whereRaw('look.started_at >= coalesce(other.confirmed_at, other.sent_at, look.started_at)');
  const rows: OutboxEntry[] = await sql('push_outbox as mine')
    .join('push_outbox as other', (on) =>
      on.on('other.kind', 'mine.kind').on('other.remote_key', 'mine.remote_key'),
    )
    .whereRaw('other.external_code <> mine.external_code')
    .where('mine.kind', first.kind)
    .whereIn(
      'mine.external_code',
      entries.map(({ external_code }) => external_code),
    )
    .where((or) =>
      or
        .whereIn('other.state', ['sending', 'unknown', 'confirmed'])
        .orWhere('other.unclear_sends', '>', 0)
        .orWhere('other.is_doubtful', true),
    )
    .whereNotExists(lookedSince)
    .distinct('mine.external_code');
  return new Set(rows.map(({ external_code }) => external_code));
}
