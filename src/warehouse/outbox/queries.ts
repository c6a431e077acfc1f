// Every question that is asked of the outbox, for runs, commands, page and alerts alike. None costs more because more
// entries are confirmed: each one that a run asks is answered by an index.
import type { Knex } from 'knex';
import type { Engine } from '../engine.ts';
import {
  type Attention,
  type EntryKey,
  IS_CONFIRMED,
  IS_OPEN,
  IS_WATCHED,
  OUTBOX_STATES,
  type OutboxEntry,
  type OutboxState,
} from './entry.ts';

export interface Period {
  /** ISO instants, UTC. */
  start: string;
  end: string;
}

/** States that end a file's wait. */
export const FINAL: readonly OutboxState[] = ['confirmed', 'rejected', 'cancelled'];

/** By code, every use of it in order; codes that are not there are left out. */
export async function entriesByCode(
  sql: Knex,
  kind: string,
  codes: readonly string[],
): Promise<Map<string, OutboxEntry[]>> {
  const rows: OutboxEntry[] = await sql('push_outbox')
    .where({ kind })
    .whereIn('external_code', [...codes])
    .orderBy('code_use');
  return Map.groupBy(rows, (row) => row.external_code);
}

/** Entries that are still as they were read, in the same order. */
export async function entriesByKey(
  sql: Knex,
  kind: string,
  keys: readonly (EntryKey & Pick<OutboxEntry, 'revision'>)[],
): Promise<OutboxEntry[]> {
  const uses = await entriesByCode(
    sql,
    kind,
    keys.map(({ external_code }) => external_code),
  );
  return keys.flatMap(
    (key) =>
      uses
        .get(key.external_code)
        ?.filter(({ code_use, revision }) => code_use === key.code_use && revision === key.revision) ?? [],
  );
}

/** Entries with exactly this code. */
export const entriesNamed = (sql: Knex, code: string, kind?: string): Promise<OutboxEntry[]> =>
  sql('push_outbox')
    .where({ external_code: code, ...(kind !== undefined && { kind }) })
    .orderBy(['kind', 'code_use']);

type OpenState = Exclude<OutboxState, 'confirmed'>;

const inState = (sql: Knex, kind: string, state: OpenState): Knex.QueryBuilder =>
  sql('push_outbox').where({ kind, state }).whereRaw(IS_OPEN);

export const entriesIn = (sql: Knex, kind: string, state: OpenState): Promise<OutboxEntry[]> =>
  inState(sql, kind, state);

export async function countIn(sql: Knex, kind: string, state: OpenState): Promise<number> {
  const [row] = await inState(sql, kind, state).count({ n: '*' });
  return Number(row?.n ?? 0);
}

const DUE_COLUMNS = [
  ...['kind', 'external_code', 'code_use', 'state', 'revision'],
  ...['sent_hash', 'remote_id', 'remote_key', 'period_start', 'period_end'],
];

/** An entry as a read-back asks for it; its payload is read when it is compared. */
export type DueEntry = EntryKey &
  Pick<OutboxEntry, 'state' | 'revision' | 'sent_hash' | 'remote_id' | 'remote_key'> &
  Pick<OutboxEntry, 'period_start' | 'period_end'>;

/** More than one run can send; the others wait for the next run. */
const MOST_DUE = 20_000;
/** No entry waits longer than this; one that seems to was written before the clock was set back. */
const LONGEST_WAIT_MS = 2 * 3_600_000;
/** How long the end of an optimisation is awaited. */
const WATCH_MS = 3 * 86_400_000;

const before = (at: string, ms: number): string => new Date(Date.parse(at) - ms).toISOString();

const isDue =
  (at: string) =>
  (or: Knex.QueryBuilder): void => {
    or.whereNull('next_attempt_at')
      .orWhere('next_attempt_at', '<=', at)
      .orWhere('next_attempt_at', '>', before(at, -LONGEST_WAIT_MS));
  };

/** Ready entries that may be sent at `at`, those that start first before the others. */
export async function readyEntries(sql: Knex, kind: string, at: string): Promise<DueEntry[]> {
  const ready: DueEntry[] = await inState(sql, kind, 'ready')
    .whereNotNull('payload')
    .where(isDue(at))
    .limit(MOST_DUE)
    .select(...DUE_COLUMNS);
  // Here and not in SQL, which would read all entries by their start instead of the few that are ready.
  const order = ({ period_start, external_code }: DueEntry): string =>
    `${period_start ?? ''} ${external_code}`;
  return ready.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/**
 * Entries whose outcome the service has to show: unknown ones, watched ones, and those that a status rejected since
 * `rejectedSince`, because that status may have been answered after the work was done.
 */
export async function openEntries(
  sql: Knex,
  kind: string,
  at: string,
  rejectedSince: string,
): Promise<DueEntry[]> {
  const unknown = await inState(sql, kind, 'unknown')
    .limit(MOST_DUE)
    .select(...DUE_COLUMNS);
  const watched = await sql('push_outbox')
    .where({ kind })
    .whereRaw(IS_WATCHED)
    .where((or) =>
      or.whereNull('seen_at').orWhereNotNull('attention').orWhere('confirmed_at', '>', before(at, WATCH_MS)),
    )
    .where(isDue(at))
    .limit(MOST_DUE)
    .select(...DUE_COLUMNS);
  const rejected = await inState(sql, kind, 'rejected')
    .where('updated_at', '>=', rejectedSince)
    .where('sent_hash', '>', '')
    .limit(MOST_DUE)
    .select(...DUE_COLUMNS);
  return [...unknown, ...watched, ...rejected];
}

export interface ControlRecord {
  remote_id: number | null;
  remote_key: string;
}

const MOST_CONTROL_RECORDS = 2_000;

/**
 * What a listing of the period has to show: what earlier ones showed, and what was accepted before `acceptedBefore`. A
 * listing that leaves it out proves nothing.
 */
export function controlRecords(
  sql: Knex,
  kind: string,
  period: Period | undefined,
  acceptedBefore: string,
): Promise<ControlRecord[]> {
  const shown = sql('push_outbox')
    .where({ kind })
    .whereRaw(IS_CONFIRMED)
    .where((or) => or.whereNotNull('seen_at').orWhere('confirmed_at', '<=', acceptedBefore));
  if (period === undefined) shown.orderBy('updated_at', 'desc');
  else shown.whereBetween('period_start', [period.start, period.end]).where('period_end', '<=', period.end);
  return shown.limit(MOST_CONTROL_RECORDS).select('remote_id', 'remote_key');
}

/** The period of the newest entry that a listing showed; undefined where none did. */
export const shownPeriod = (sql: Knex, kind: string): Promise<Period | undefined> =>
  sql('push_outbox')
    .where({ kind })
    .whereRaw(IS_CONFIRMED)
    .whereNotNull('seen_at')
    .whereNotNull('period_start')
    .orderBy('updated_at', 'desc')
    .first({ start: 'period_start', end: 'period_end' });

/** Which entries have these identifiers. */
export async function ownersOf(
  sql: Knex,
  kind: string,
  ids: readonly number[],
): Promise<Map<number, EntryKey>> {
  const rows: OutboxEntry[] = await sql('push_outbox')
    .where({ kind })
    .whereIn('remote_id', [...ids])
    .select('kind', 'external_code', 'code_use', 'remote_id');
  return new Map(rows.map((row) => [Number(row.remote_id), row]));
}

/** Entries that may be at the service under one of these keys. */
export const holdersOf = (sql: Knex, kind: string, keys: readonly string[]): Promise<OutboxEntry[]> =>
  sql('push_outbox')
    .where({ kind })
    .whereIn('remote_key', [...keys])
    .whereIn('state', ['sending', 'unknown', 'confirmed']);

const PAGE = 200;

/**
 * Entries that the ERP has not been notified of, a page by code. One that was confirmed after `idAwaitedSince` may
 * still wait for its identifier.
 */
export const unacknowledged = (
  sql: Knex,
  kind: string,
  idAwaitedSince: string,
  after: EntryKey | undefined,
): Promise<OutboxEntry[]> => {
  const page = sql('push_outbox')
    .where({ kind })
    .whereNull('told_at')
    .whereIn('state', [...FINAL, 'unknown'])
    .where((or) =>
      or
        .whereNot({ state: 'confirmed' })
        .orWhereNotNull('remote_id')
        .orWhere('confirmed_at', '<=', idAwaitedSince),
    );
  if (after !== undefined)
    page.whereRaw('(external_code, code_use) > (?, ?)', [after.external_code, after.code_use]);
  return page.orderBy(['external_code', 'code_use']).limit(PAGE);
};

/** The ERP was notified of these, each as it was read. A clear code that nobody needs any more is dropped. */
export async function markAcknowledged(
  sql: Knex,
  entries: readonly OutboxEntry[],
  at: string,
): Promise<void> {
  const [first] = entries;
  if (first === undefined) return;
  await sql('push_outbox')
    .where({ kind: first.kind })
    .whereIn(
      ['external_code', 'code_use', 'revision'],
      entries.map((entry) => [entry.external_code, entry.code_use, entry.revision]),
    )
    .update({
      told_at: at,
      erp_code: sql.raw(
        "case when state = 'cancelled' or (state = 'confirmed' and seen_at is not null) then null else erp_code end",
      ),
    });
}

/** Drops the content of rejected entries that nobody has sent again by then. */
export async function dropOldPayloads(sql: Knex, kind: string, rejectedBefore: string): Promise<void> {
  await inState(sql, kind, 'rejected')
    .where('updated_at', '<', rejectedBefore)
    .where((or) => or.whereNotNull('payload').orWhereNotNull('erp_code'))
    // Until the ERP is notified, its own code is needed.
    .update({ payload: null, erp_code: sql.raw('case when told_at is null then erp_code end') });
}

const MOST_AGED = 1_000;

/** Deletes final entries of which nothing was heard since, with their histories. One that the ERP still offers stays. */
export async function deleteAged(sql: Knex, kind: string, finalBefore: string): Promise<number> {
  const aged: EntryKey[] = [];
  for (const state of FINAL)
    aged.push(
      ...(await sql('push_outbox')
        .where({ kind, state })
        .whereRaw(state === 'confirmed' ? IS_CONFIRMED : IS_OPEN)
        .where('updated_at', '<', finalBefore)
        .where('told_at', '<', finalBefore)
        .whereNull('attention')
        .limit(MOST_AGED)
        .select('kind', 'external_code', 'code_use')),
    );
  for (let from = 0; from < aged.length; from += PAGE) {
    const keys = aged
      .slice(from, from + PAGE)
      .map(({ external_code, code_use }) => [external_code, code_use]);
    for (const table of ['push_attempt', 'push_outbox'])
      await sql(table).where({ kind }).whereIn(['external_code', 'code_use'], keys).delete();
    if (kind === 'route_plans')
      await sql('push_return').whereIn(['plan_external_code', 'code_use'], keys).delete();
  }
  return aged.length;
}

export interface EntrySearch {
  states?: readonly OutboxState[];
  kind?: string;
  /** A part of the code. */
  code?: string;
  limit: number;
  offset?: number;
}

/** For people: what needs them first, then by what changed last. */
export function searchEntries(sql: Knex, search: EntrySearch): Promise<OutboxEntry[]> {
  return matching(sql, search)
    .orderByRaw(
      `case when attention is not null then 0 when state = 'unknown' then 1 when state = 'sending' then 2
       when told_at is null and state <> 'ready' then 3 when state = 'rejected' then 4 else 5 end`,
    )
    .orderBy('updated_at', 'desc')
    .orderBy(['external_code', 'code_use'])
    .limit(search.limit)
    .offset(search.offset ?? 0);
}

/** How many entries a search finds. */
export async function countEntries(sql: Knex, search: Omit<EntrySearch, 'limit'>): Promise<number> {
  const [row] = await matching(sql, search).count({ n: '*' });
  return Number(row?.n ?? 0);
}

function matching(sql: Knex, { states, kind, code }: Omit<EntrySearch, 'limit'>): Knex.QueryBuilder {
  const query = sql('push_outbox');
  if (states !== undefined) query.whereIn('state', [...states]);
  if (kind !== undefined) query.where({ kind });
  if (code !== undefined) query.whereRaw("lower(external_code) like ? escape '!'", [`%${likeText(code)}%`]);
  return query;
}

/** Small letters of ASCII, as every engine's `lower` makes them; characters that LIKE would interpret are escaped. */
const likeText = (text: string): string =>
  text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll(/[!%_]/g, '!$&');

export const outboxCounts = (engine: Engine): Promise<Record<OutboxState, number>> =>
  engine.read(async (sql) => {
    const rows: { state: OutboxState; n: number }[] = await sql('push_outbox')
      .groupBy('state')
      .select('state', sql.raw('count(*) as n'));
    const found = new Map(rows.map(({ state, n }) => [state, Number(n)]));
    return Object.fromEntries(OUTBOX_STATES.map((state) => [state, found.get(state) ?? 0])) as Record<
      OutboxState,
      number
    >;
  });

/** Since when the outcome of the longest unresolved entry is not known; null where there is none. */
export const oldestUnknown = (engine: Engine): Promise<string | null> =>
  engine.read(async (sql) => {
    const [row] = await sql('push_outbox').where({ state: 'unknown' }).min({ since: 'unknown_since' });
    return row?.since ?? null;
  });

/** How long a read-back or a notification may take before a person should look. */
export const GRACE_MS = 600_000;

export type AttentionReason = Attention | 'unknown' | 'not_acknowledged';

/** How many entries need a person, by reason; the one answer for runs, commands, page and alerts. */
export function entriesNeedingAttention(
  sql: Knex,
  at: string,
  kind?: string,
): Promise<{ reason: AttentionReason; n: number }[]> {
  const late = before(at, GRACE_MS);
  const entries = () => (kind === undefined ? sql('push_outbox') : sql('push_outbox').where({ kind }));
  const reasons = entries()
    .select(sql.raw('attention as reason'))
    .whereNotNull('attention')
    .where('attention', '>', '')
    // Nobody can send a plan of a day that is over.
    .where((or) =>
      or.whereNot({ attention: 'code_reused' }).orWhereNull('period_end').orWhere('period_end', '>', at),
    )
    .unionAll([
      entries()
        .select(sql.raw("'unknown' as reason"))
        .where({ state: 'unknown' })
        .whereRaw(IS_OPEN)
        .whereNull('attention')
        .where('unknown_since', '<', late),
      entries()
        .select(sql.raw("'not_acknowledged' as reason"))
        .whereNull('told_at')
        .whereNull('attention')
        .whereIn('state', [...FINAL])
        // A confirmed one may wait for its identifier.
        .whereNot((and) => and.where({ state: 'confirmed' }).whereNull('remote_id'))
        .where('updated_at', '<', late),
    ]);
  return sql
    .from(reasons.as('entry'))
    .groupBy('reason')
    .orderBy('reason')
    .select('reason', sql.raw('count(*) as n'))
    .then((rows: { reason: AttentionReason; n: number }[]) =>
      rows.map(({ reason, n }) => ({ reason, n: Number(n) })),
    );
}

/** Code and state of each entry that starts within the period. */
export const entriesStarting = (
  sql: Knex,
  kind: string,
  { start, end }: Period,
): Promise<Pick<OutboxEntry, 'external_code' | 'state'>[]> =>
  sql('push_outbox')
    .where({ kind })
    .where('period_start', '>=', start)
    .where('period_start', '<', end)
    .orderBy('external_code')
    .select('external_code', 'state');

const PLANS_A_PAGE = 100;

/** Confirmed plans that have begun and did not end long ago, a page in the order of their end. */
export const runningPlans = (
  sql: Knex,
  { startedBy, endedAfter }: { startedBy: string; endedAfter: string },
  after: OutboxEntry | undefined,
): Promise<OutboxEntry[]> => {
  const order = ['period_end', 'external_code', 'code_use'];
  const page = sql('push_outbox')
    .where({ kind: 'route_plans', state: 'confirmed' })
    .whereNotNull('remote_id')
    .where('period_start', '<=', startedBy)
    .where('period_end', '>', endedAfter);
  if (after !== undefined)
    page.whereRaw('(period_end, external_code, code_use) > (?, ?, ?)', [
      after.period_end,
      after.external_code,
      after.code_use,
    ]);
  return page.orderBy(order).limit(PLANS_A_PAGE);
};
