// Entries with one key, where one key is one thing at the service: of several codes with it one is sent, and the
// others are found. So what is known of one of them says whether another may be sent.
import type { Knex } from 'knex';
import type { Transaction } from './engine.ts';
import { isCertain, isInDoubt, type OutboxEntry } from './outbox-entry.ts';
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

/** By the code of each ready one, that of another one of its key that may have arrived, unless a person has looked since. */
export async function arrivedTwins(sql: Knex, entries: readonly OutboxEntry[]): Promise<Map<string, string>> {
  const ready = entries.filter(({ state }) => state === 'ready');
  const [first] = ready;
  if (first === undefined) return new Map();
  const [codes, keys] = [ready.map((each) => each.external_code), ready.map((each) => each.remote_key)];
  const sameKey: OutboxEntry[] = await sql('push_outbox')
    .where({ kind: first.kind })
    .whereIn('remote_key', keys);
  const arrived = Map.groupBy(sameKey.filter(mayHaveArrived), ({ remote_key }) => remote_key);
  const looks: { external_code: string; at: string }[] = await sql('push_attempt')
    .where({ kind: first.kind, outcome: 'vouched' })
    .whereIn('external_code', codes)
    .groupBy('external_code')
    .select('external_code')
    .max({ at: 'started_at' });
  const lookedAt = new Map(looks.map(({ external_code, at }) => [external_code, at]));
  const twins = new Map<string, string>();
  for (const entry of ready) {
    const { external_code, remote_key } = entry;
    const twin = arrived.get(remote_key)?.find(
      (other) =>
        other.external_code !== external_code &&
        // Two that waited for each other would wait for ever; a confirmed one waits for nothing.
        (other.state === 'confirmed' || !isInDoubt(entry)) &&
        !isLookedFor(entry, other, lookedAt),
    );
    if (twin !== undefined) twins.set(external_code, twin.external_code);
  }
  return twins;
}

const mayHaveArrived = (entry: OutboxEntry): boolean =>
  ['sending', 'unknown', 'confirmed'].includes(entry.state) || isInDoubt(entry);

/** A person looked after the other one may have arrived, and for what the entry is now. */
function isLookedFor(
  { external_code, updated_at }: OutboxEntry,
  other: OutboxEntry,
  lookedAt: ReadonlyMap<string, string>,
): boolean {
  const at = lookedAt.get(external_code) ?? '';
  return at >= updated_at && at >= (other.confirmed_at ?? other.sent_at ?? '');
}
