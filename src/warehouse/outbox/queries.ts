// Outbox queries of a push run. Their cost does not grow with the number of confirmed entries: each query uses an
// index, and repeats the condition of that index word for word.
import type { Knex } from 'knex';
import { chunks } from '../../core/chunks.ts';
import {
  type EntryKey,
  IS_CONFIRMED,
  IS_NOT_CONFIRMED,
  IS_RESENT,
  IS_WATCHED,
  nameOf,
  type OutboxEntry,
  type OutboxState,
  pushOutbox,
} from './entry.ts';

export interface Period {
  /** ISO instants, UTC. */
  start: string;
  end: string;
}

/** A file is finished once all its entries are in one of these states. */
export const FINAL: readonly OutboxState[] = ['confirmed', 'rejected', 'cancelled'];

const SUMMARY_COLUMNS = [
  'kind',
  'external_code',
  'code_use',
  'erp_code',
  'origin',
  'state',
  'attention',
  'message',
  'reasons',
  'sent_hash',
  'remote_id',
  'remote_key',
  'period_start',
  'period_end',
  'confirmed_at',
  'revision',
] as const;

/** The columns that a read-back or a notification of the ERP needs. Reading all columns would take several times as long. */
export type EntrySummary = Pick<OutboxEntry, (typeof SUMMARY_COLUMNS)[number]>;

const usesOf = (sql: Knex, kind: string, codes: readonly string[]): Knex.QueryBuilder =>
  sql('push_outbox')
    .where({ kind })
    .whereIn('external_code', [...codes])
    .orderBy('code_use');

const byCode = <Entry extends EntryKey>(entries: Entry[]): Map<string, Entry[]> =>
  Map.groupBy(entries, ({ external_code }) => external_code);

/** By code: all its uses in order. Unknown codes are omitted. */
export const entriesByCode = async (sql: Knex, kind: string, codes: readonly string[]) =>
  byCode<OutboxEntry>(await usesOf(sql, kind, codes));

/** As `entriesByCode`. */
export const summariesByCode = async (sql: Knex, kind: string, codes: readonly string[]) =>
  byCode<EntrySummary>(await usesOf(sql, kind, codes).select(...SUMMARY_COLUMNS));

/** The entries whose revision has not changed since they were read, in the order of `keys`. */
export async function entriesByKey(
  sql: Knex,
  kind: string,
  keys: readonly (EntryKey & Pick<OutboxEntry, 'revision'>)[],
): Promise<OutboxEntry[]> {
  const codes = keys.map(({ external_code }) => external_code);
  const known = await entriesByCode(sql, kind, codes);
  return keys.flatMap(
    ({ external_code, code_use, revision }) =>
      known.get(external_code)?.find((use) => use.code_use === code_use && use.revision === revision) ?? [],
  );
}

export const entriesIn = (sql: Knex, kind: string, state: OutboxState): Knex.QueryBuilder<OutboxEntry, OutboxEntry[]> =>
  sql('push_outbox')
    .where({ kind, state })
    .whereRaw(state === 'confirmed' ? IS_CONFIRMED : IS_NOT_CONFIRMED);

export async function countOf(query: Knex.QueryBuilder): Promise<number> {
  const [{ n }] = await query.count({ n: '*' });
  return Number(n);
}

export const countIn = (sql: Knex, kind: string, state: OutboxState): Promise<number> =>
  countOf(entriesIn(sql, kind, state));

/** More than one run can send; the remaining entries wait for the next run. */
const MOST_DUE = 20_000;
/** No entry waits longer than this. A later `next_attempt_at` was written before the clock was set back, and is ignored. */
const LONGEST_WAIT_MS = 2 * 3_600_000;
/** How long a run waits for an optimisation to end. */
const WATCH_MS = 3 * 86_400_000;

export const before = (at: string, ms: number): string => new Date(Date.parse(at) - ms).toISOString();

const isDue =
  (at: string) =>
  (or: Knex.QueryBuilder): void => {
    or.whereNull('next_attempt_at')
      .orWhere('next_attempt_at', '<=', at)
      .orWhere('next_attempt_at', '>', before(at, -LONGEST_WAIT_MS));
  };

const dueOf = (query: Knex.QueryBuilder): Promise<EntrySummary[]> => query.limit(MOST_DUE).select(...SUMMARY_COLUMNS);

/** Ready entries that may be sent at `at`, ordered by the start of their period. */
export async function readyEntries(sql: Knex, kind: string, at: string): Promise<EntrySummary[]> {
  const ready = await dueOf(entriesIn(sql, kind, 'ready').whereNotNull('payload').where(isDue(at)));
  // Sorted here: in SQL, the database would read all entries by period_start instead of the few ready ones.
  const order = ({ period_start, external_code }: EntrySummary): string => `${period_start ?? ''} ${external_code}`;
  return ready.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** How long after its first listing an item that was sent again is watched for a second copy. */
const RESENT_MS = 2 * 3_600_000;

/**
 * Entries to read back: unknown ones, watched ones, those that were sent again after an unclear send, and those rejected
 * since `rejectedSince`, because the service may answer with an error status after it stored the item.
 */
export async function entriesToReadBack(
  sql: Knex,
  kind: string,
  at: string,
  rejectedSince: string,
): Promise<EntrySummary[]> {
  const watched = sql('push_outbox')
    .where({ kind })
    .whereRaw(IS_WATCHED)
    .where((or) =>
      or.whereNull('seen_at').orWhereNotNull('attention').orWhere('confirmed_at', '>', before(at, WATCH_MS)),
    )
    .where(isDue(at));
  const resent = sql('push_outbox')
    .where({ kind })
    .whereRaw(IS_RESENT)
    .where('seen_at', '>', before(at, RESENT_MS))
    .whereExists(
      sql('push_attempt as attempt')
        .whereRaw(
          '(attempt.kind, attempt.external_code, attempt.code_use) = (push_outbox.kind, push_outbox.external_code, push_outbox.code_use)',
        )
        .where({ what: 'create', outcome: 'unclear' }),
    );
  const rejected = entriesIn(sql, kind, 'rejected')
    .where('updated_at', '>=', rejectedSince)
    .where('sent_hash', '>', '');
  // An entry that was sent again may be watched for another reason too.
  const due = new Map<string, EntrySummary>();
  for (const query of [entriesIn(sql, kind, 'unknown'), watched, resent, rejected])
    for (const entry of await dueOf(query)) due.set(nameOf(entry), entry);
  return [...due.values()];
}

export type ControlRecord = Pick<OutboxEntry, 'remote_id' | 'remote_key'>;

const MOST_CONTROL_RECORDS = 2_000;

/**
 * The items that a listing of the period has to contain: items in earlier listings, and items accepted before
 * `acceptedBefore`. A listing that omits one of them is inconclusive.
 */
export function controlRecords(
  sql: Knex,
  kind: string,
  period: Period | undefined,
  acceptedBefore: string,
): Promise<ControlRecord[]> {
  const shown = entriesIn(sql, kind, 'confirmed').where((or) =>
    or.whereNotNull('seen_at').orWhere('confirmed_at', '<=', acceptedBefore),
  );
  if (period === undefined) shown.orderBy('updated_at', 'desc');
  else shown.whereBetween('period_start', [period.start, period.end]).where('period_end', '<=', period.end);
  return shown.limit(MOST_CONTROL_RECORDS).select('remote_id', 'remote_key');
}

/** The period of the newest entry that a listing showed; undefined if there is none. */
export const shownPeriod = (sql: Knex, kind: string): Promise<Period | undefined> =>
  entriesIn(sql, kind, 'confirmed')
    .whereNotNull('seen_at')
    .whereNotNull('period_start')
    .orderBy('updated_at', 'desc')
    .first({ start: 'period_start', end: 'period_end' });

/** The entries that have these identifiers, by identifier. */
export async function ownersOf(sql: Knex, kind: string, ids: readonly number[]): Promise<Map<number, EntryKey>> {
  const rows: OutboxEntry[] = await sql('push_outbox')
    .where({ kind })
    .whereIn('remote_id', [...ids])
    .select(...pushOutbox.key, 'remote_id');
  return new Map(rows.map((row) => [Number(row.remote_id), row]));
}

/** Entries that may exist at the service under one of these keys. */
export const holdersOf = (sql: Knex, kind: string, keys: readonly string[]): Promise<OutboxEntry[]> =>
  sql('push_outbox')
    .where({ kind })
    .whereIn('remote_key', [...keys])
    .whereIn('state', ['sending', 'unknown', 'confirmed']);

const PAGE = 200;

/**
 * Whether the ERP may be notified of a final outcome. An entry that was confirmed within `idAwaited` first waits for its
 * identifier. One with a later time was confirmed before the clock was set back, and waits no longer.
 */
export const isReportable = ({ state, remote_id, confirmed_at }: EntrySummary, { start, end }: Period): boolean =>
  FINAL.includes(state) &&
  (state !== 'confirmed' ||
    remote_id !== null ||
    (confirmed_at !== null && (confirmed_at <= start || confirmed_at > end)));

/**
 * Entries that the ERP has not been notified of, one page in the order of their codes: unknown ones, and those that are
 * reportable as above.
 */
export function unacknowledged(
  sql: Knex,
  kind: string,
  { start, end }: Period,
  after: EntryKey | undefined,
): Promise<EntrySummary[]> {
  const page = sql('push_outbox')
    .where({ kind })
    .whereNull('told_at')
    .whereIn('state', [...FINAL, 'unknown'])
    .where((or) =>
      or
        .whereNot({ state: 'confirmed' })
        .orWhereNotNull('remote_id')
        .orWhere('confirmed_at', '<=', start)
        .orWhere('confirmed_at', '>', end),
    );
  if (after !== undefined) page.whereRaw('(external_code, code_use) > (?, ?)', [after.external_code, after.code_use]);
  return page
    .orderBy(['external_code', 'code_use'])
    .limit(PAGE)
    .select(...SUMMARY_COLUMNS);
}

/** Marks entries as acknowledged unless they changed since they were read. Drops clear codes that are no longer needed. */
export async function markAcknowledged(
  sql: Knex,
  kind: string,
  entries: readonly EntrySummary[],
  at: string,
): Promise<void> {
  for (const page of chunks(entries, PAGE)) {
    const read = page.map(({ external_code, code_use, revision }) => [external_code, code_use, revision]);
    await sql('push_outbox')
      .where({ kind })
      .whereIn(['external_code', 'code_use', 'revision'], read)
      .update({ told_at: at, erp_code: sql.raw(NEEDED_CODE) });
  }
}

/** Keeps the ERP's clear code only while the ERP may have to be notified under it. */
const NEEDED_CODE =
  "case when state = 'cancelled' or (state = 'confirmed' and seen_at is not null) then null else erp_code end";

/** Drops the content of entries that were rejected before `rejectedBefore`. Returns how many entries it wrote. */
export const dropOldPayloads = (sql: Knex, kind: string, rejectedBefore: string): Promise<number> =>
  entriesIn(sql, kind, 'rejected')
    .where('updated_at', '<', rejectedBefore)
    .where((or) => or.whereNotNull('payload').orWhereNotNull('erp_code'))
    // The notification of the ERP needs the clear code.
    .update({ payload: null, erp_code: sql.raw('case when told_at is null then erp_code end') });

const MOST_AGED = 1_000;

/** Deletes final entries that have not changed since `finalBefore`, with their histories. Entries that the ERP still offers stay. */
export async function deleteAged(sql: Knex, kind: string, finalBefore: string): Promise<number> {
  const aged: EntryKey[] = [];
  for (const state of FINAL)
    aged.push(
      ...(await entriesIn(sql, kind, state)
        .where('updated_at', '<', finalBefore)
        .where('told_at', '<', finalBefore)
        .where((or) => or.whereNull('period_end').orWhere('period_end', '<', finalBefore))
        .whereNull('attention')
        .limit(MOST_AGED)
        .select(...pushOutbox.key)),
    );
  for (const page of chunks(aged, PAGE)) {
    const keys = page.map(({ external_code, code_use }) => [external_code, code_use]);
    for (const table of ['push_attempt', 'push_content', 'push_outbox'])
      await sql(table).where({ kind }).whereIn(['external_code', 'code_use'], keys).delete();
    if (kind === 'route_plans') await sql('push_return').whereIn(['plan_external_code', 'code_use'], keys).delete();
  }
  return aged.length;
}
