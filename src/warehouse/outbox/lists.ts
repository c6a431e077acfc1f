// Outbox queries for commands, page and alerts: searches, counts, and the entries that need a person.
import type { Knex } from 'knex';
import { DAY_MS } from '../../core/time/durations.ts';
import type { Engine } from '../engine.ts';
import {
  type Attention,
  type EntryKey,
  IS_CONFIRMED,
  IS_NOT_CONFIRMED,
  OUTBOX_STATES,
  type OutboxEntry,
  type OutboxState,
  pushOutbox,
  SHOWN_STATE,
  SHOWN_STATES,
  type ShownState,
  storedState,
} from './entry.ts';
import { before, countOf, FINAL, type Period } from './queries.ts';

export const entriesNamed = (sql: Knex, code: string, kind?: string): Promise<OutboxEntry[]> =>
  sql('push_outbox')
    .where({ external_code: code, ...(kind !== undefined && { kind }) })
    .orderBy(['kind', 'code_use']);

/** `updated_at`: as a person was shown it. */
export type NamedEntry = EntryKey & { updated_at?: string | undefined };

export interface EntryFilter {
  states?: readonly ShownState[];
  kind?: string;
  /** A part of the code. */
  code?: string;
  /** The period of the entry starts in this one. */
  starting?: Period;
  /** Only these entries. */
  keys?: readonly NamedEntry[];
}

export interface EntrySearch extends EntryFilter {
  limit: number;
  offset?: number;
}

/** Entries that need a person first, the longest unknown before others; then the most recently changed. */
export const searchEntries = (sql: Knex, search: EntrySearch): Promise<OutboxEntry[]> =>
  matching(sql, search)
    .orderByRaw(
      `case when attention is not null then 0 when state = 'unknown' then 1 when state = 'sending' then 2
       when told_at is null and state <> 'ready' then 3
       when state = 'rejected' or ${SHOWN_STATE} in ('partial', 'differs') then 4 else 5 end`,
    )
    .orderByRaw("case when attention is null and state = 'unknown' then unknown_since end")
    .orderBy('updated_at', 'desc')
    .orderBy(['external_code', 'code_use'])
    .limit(search.limit)
    .offset(search.offset ?? 0);

export const matchingKeys = (sql: Knex, filter: EntryFilter): Promise<EntryKey[]> =>
  matching(sql, filter).select(...pushOutbox.key);

export const countEntries = (sql: Knex, filter: EntryFilter): Promise<number> => countOf(matching(sql, filter));

function matching(sql: Knex, { states, kind, code, starting, keys }: EntryFilter): Knex.QueryBuilder {
  const query = sql('push_outbox');
  if (states !== undefined) {
    // The stored states first, because these have an index.
    query.whereIn('state', [...new Set(states.map(storedState))]);
    query.whereRaw(`${SHOWN_STATE} in (${states.map(() => '?').join(', ')})`, [...states]);
  }
  if (kind !== undefined) query.where({ kind });
  if (starting !== undefined)
    query.where('period_start', '>=', starting.start).where('period_start', '<', starting.end);
  if (keys !== undefined)
    query.whereIn(
      ['kind', 'external_code', 'code_use'],
      keys.map((key) => [key.kind, key.external_code, key.code_use]),
    );
  if (code !== undefined) query.whereRaw("lower(external_code) like ? escape '!'", [`%${likeText(code)}%`]);
  return query;
}

/**
 * Lower-cases ASCII letters only, as `lower` does with the column's collation; of a bound text PostgreSQL would lower-case all
 * letters. Escapes the wildcards of LIKE.
 */
const likeText = (text: string): string =>
  text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll(/[!%_]/g, '!$&');

/** By the states of the table, of which its index is enough. */
export const outboxCounts = (engine: Engine): Promise<Record<OutboxState, number>> =>
  countsBy(engine, OUTBOX_STATES, 'state');

/** By the states that people see. */
export const shownCounts = (engine: Engine): Promise<Record<ShownState, number>> =>
  countsBy(engine, SHOWN_STATES, SHOWN_STATE);

async function countsBy<State extends string>(engine: Engine, states: readonly State[], expression: string) {
  const rows: { shown: State; n: number }[] = await engine.read((sql) =>
    sql('push_outbox')
      .select(sql.raw(`${expression} as shown`))
      .groupBy('shown')
      .count({ n: '*' }),
  );
  const counts = new Map(rows.map(({ shown, n }) => [shown, Number(n)]));
  return Object.fromEntries(states.map((state) => [state, counts.get(state) ?? 0])) as Record<State, number>;
}

/** Since when the oldest unknown entry is unknown; null if there is none. */
export async function oldestUnknown(engine: Engine): Promise<string | null> {
  const [{ since }] = await engine.read(
    (sql): Knex.QueryBuilder => sql('push_outbox').where({ state: 'unknown' }).min({ since: 'unknown_since' }),
  );
  return since;
}

/** How long a read-back or a notification may take before the entry needs a person. */
export const GRACE_MS = 600_000;

export type AttentionReason = Attention | 'unknown' | 'not_acknowledged';

/** The name of the fact that a dropped file was taken and waits for its result. */
export const takenFileFact = (kind: string, file = ''): string => `taken file ${kind} ${file}`;

/**
 * The kinds with a file that waits for its result. Their final entries may wait with it, so none of them counts as not
 * acknowledged: a result that cannot be written is an error of the run.
 */
export async function kindsWithWaitingFiles(sql: Knex): Promise<Set<string>> {
  const names: string[] = await sql('sync_state').where('name', 'like', 'taken file %').pluck('name');
  return new Set(names.map((name) => name.split(' ')[2] as string));
}

/** Counts the entries without a clear answer that need nobody yet: the next runs read them back. */
export async function countUnclear(sql: Knex, at: string): Promise<number> {
  const row = await sql('push_outbox')
    .where({ state: 'unknown' })
    .whereRaw(IS_NOT_CONFIRMED)
    .whereNull('attention')
    .where('unknown_since', '>=', before(at, GRACE_MS))
    .count({ n: '*' })
    .first();
  return Number(row?.n);
}

/** Counts the entries that need a person, by reason and kind. Runs, commands, page and alerts all use this count. */
export async function entriesNeedingAttention(
  sql: Knex,
  at: string,
  filter: EntryFilter = {},
): Promise<(KindCount & { reason: AttentionReason })[]> {
  const late = before(at, GRACE_MS);
  const entries = (reason: string, since: keyof OutboxEntry): Knex.QueryBuilder =>
    matching(sql, filter).select('kind', sql.raw(`${reason} as reason`), `${since} as since`);
  const noted = entries('attention', 'attention_since')
    .whereNotNull('attention')
    // A plan whose period is over can no longer be sent.
    .where((or) => or.whereNot({ attention: 'code_reused' }).orWhereNull('period_end').orWhere('period_end', '>', at));
  const unknown = entries("'unknown'", 'unknown_since')
    .where({ state: 'unknown' })
    .whereRaw(IS_NOT_CONFIRMED)
    .whereNull('attention')
    .where('unknown_since', '<', late);
  const notAcknowledged = entries("'not_acknowledged'", 'updated_at')
    .whereNull('told_at')
    .whereNull('attention')
    .whereIn('state', [...FINAL])
    .whereNotIn('kind', [...(await kindsWithWaitingFiles(sql))])
    // A confirmed entry may still wait for its identifier.
    .whereNot((and) => and.where({ state: 'confirmed' }).whereNull('remote_id'))
    .where('updated_at', '<', late);
  const rows: (KindCount & { reason: AttentionReason })[] = await sql
    .from(noted.unionAll([unknown, notAcknowledged]).as('entry'))
    .groupBy('reason', 'kind')
    .orderBy(['reason', 'kind'])
    .select('reason', 'kind')
    .count({ n: '*' })
    .max({ newest: 'since' });
  return rows.map(({ n, ...row }) => ({ ...row, n: Number(n) }));
}

/** How the names of the facts begin that a file or feed could not be read. */
const UNREAD = 'unread ';
export const unreadFact = (kind: string, name = ''): string => `${UNREAD}${kind} ${name}`;

export const dropOldUnread = async (sql: Knex, kind: string, before: string): Promise<void> => {
  await sql('sync_state')
    .where('name', 'like', `${unreadFact(kind)}%`)
    .where('updated_at', '<', before)
    .delete();
};

/** The facts of the last day. Only a run of the push deletes older ones. */
const lastUnread = (sql: Knex, at: string): Knex.QueryBuilder =>
  sql('sync_state').where('name', 'like', `${UNREAD}%`).where('updated_at', '>=', before(at, DAY_MS));

/** What could not be read in the last day, newest first. */
export async function unreadFacts<T>(sql: Knex, at: string, limit: number): Promise<T[]> {
  const values: string[] = await lastUnread(sql, at)
    .orderBy([{ column: 'updated_at', order: 'desc' }, 'name'])
    .limit(limit)
    .pluck('value');
  return values.map((value) => JSON.parse(value) as T);
}

interface KindCount {
  kind: string;
  n: number;
  /** When the newest of them changed; null if that is not known. */
  newest: string | null;
}

/** Where codes are reused, the correction of an item that could not be read is a new use. */
const IS_UNDATED = `period_end is null and not exists (select 1 from push_outbox as later where later.kind = push_outbox.kind
  and later.external_code = push_outbox.external_code and later.code_use > push_outbox.code_use)`;

/**
 * Counts by kind what was rejected, is partial or differs from the ERP, and is still an issue: an entry until its period
 * is over, and at least for a day; without a period for a day, but a rejected one until it is in another state or its code
 * has a later use. Entries that need a person are counted elsewhere. What could not be read is listed one by one.
 */
export async function openIssues(sql: Knex, kinds: readonly string[], at: string) {
  const since = before(at, DAY_MS);
  const entries = (): Knex.QueryBuilder =>
    sql('push_outbox')
      .whereIn('kind', [...kinds])
      .select('kind', 'updated_at');
  const count = async (found: Knex.QueryBuilder): Promise<KindCount[]> => {
    const rows: KindCount[] = await sql
      .from(found.as('entry'))
      .groupBy('kind')
      .orderBy('kind')
      .select('kind')
      .count({ n: '*' })
      .max({ newest: 'updated_at' });
    return rows.map(({ kind, n, newest }) => ({ kind, n: Number(n), newest }));
  };
  const unread: { name: string; value: string }[] = await lastUnread(sql, at);
  const unreadable = unread.map(({ name, value }): KindCount => {
    const { at: newest = null } = JSON.parse(value) as { at?: string };
    return { kind: name.split(' ')[1] as string, n: 1, newest };
  });
  const rejected = entries()
    .where({ state: 'rejected', attention: null })
    .whereRaw(IS_NOT_CONFIRMED)
    .where((or) => or.whereRaw(IS_UNDATED).orWhere('period_end', '>', at).orWhere('updated_at', '>=', since));
  // Two parts, because each has an index: the few that changed lately, and the few whose period is not over.
  const shownAs = (shown: ShownState): Knex.QueryBuilder => {
    const lately = entries().whereRaw(IS_CONFIRMED).where('updated_at', '>=', since);
    const notOver = entries().where('period_end', '>', at).where('updated_at', '<', since);
    const [first, second] = [lately, notOver].map((each) => each.whereRaw(`${SHOWN_STATE} = ?`, [shown]));
    return (first as Knex.QueryBuilder).unionAll([second as Knex.QueryBuilder]);
  };
  return {
    unreadable,
    rejected: await count(rejected),
    partial: await count(shownAs('partial')),
    differs: await count(shownAs('differs')),
  };
}

/** The state of each entry that starts within the period. */
export const statesStarting = (sql: Knex, kind: string, { start, end }: Period): Promise<OutboxState[]> =>
  sql('push_outbox').where({ kind }).where('period_start', '>=', start).where('period_start', '<', end).pluck('state');

/** Plans that are neither confirmed, nor cancelled, nor over, by code. */
export const unconfirmedPlans = (
  sql: Knex,
  at: string,
): Promise<Pick<OutboxEntry, 'external_code' | 'state' | 'period_start' | 'created_at'>[]> =>
  sql('push_outbox')
    .where({ kind: 'route_plans' })
    .whereIn('state', ['ready', 'sending', 'unknown', 'rejected'])
    .whereRaw(IS_NOT_CONFIRMED)
    .where('period_end', '>', at)
    .orderBy('external_code')
    .select('external_code', 'state', 'period_start', 'created_at');

/** Confirmed plans that are not over and that the service no longer returns, in the order in which they end. */
export const gonePlans = (
  sql: Knex,
  at: string,
): Promise<{ external_code: string; code_use: number; gone_since: string }[]> =>
  sql('push_outbox')
    .join('route_plan', 'route_plan.id', 'push_outbox.remote_id')
    .where({ kind: 'route_plans', state: 'confirmed' })
    .where('period_end', '>', at)
    .whereNotNull('route_plan._missing_since')
    .orderBy('push_outbox.period_end')
    .select('push_outbox.external_code', 'push_outbox.code_use', 'route_plan._missing_since as gone_since');

/** Of the plans sent once since then: how many a read-back has shown, and after how long the slowest of the last 1,000. */
export async function slowestListing(engine: Engine, since: string): Promise<{ plans: number; delayMs: number }> {
  const rows: { sent_at: string; seen_at: string }[] = await engine.read((sql) =>
    sql('push_outbox')
      .where({ kind: 'route_plans', attempts: 1 })
      .where('sent_at', '>=', since)
      .whereNotNull('seen_at')
      .orderBy('sent_at', 'desc')
      .limit(1_000)
      .select('sent_at', 'seen_at'),
  );
  const delays = rows.map(({ sent_at, seen_at }) => Date.parse(seen_at) - Date.parse(sent_at));
  return { plans: delays.length, delayMs: Math.max(0, ...delays) };
}
