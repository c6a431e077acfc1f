// Which entries the service has to be searched for, by page, and the mark that says that it was.
import type { Knex } from 'knex';
import { isCertain, isDue, nextRevision, type OutboxEntry } from './outbox-entry.ts';

export interface Sought {
  kind: string;
  /** ISO instant of now. */
  at: string;
  runId: string;
  /** Which of the ready entries: all that are due, those with a send in doubt behind them, or none. */
  ready: 'all' | 'in-doubt' | 'none';
}

export interface SoughtPage {
  /** Those that were sent, or those that were not. */
  isSent: boolean;
  period: { start: string; end: string } | undefined;
  /** The last code of the page before; empty for the first. */
  after: string;
}

const PAGE = 200;
/** How long the identifier or the optimisation of a confirmed entry is awaited. */
export const WATCH_MS = 3 * 86_400_000;

/** It is awaited at `at`, as a condition of a query on a confirmed entry. */
export const isWatchedAt =
  (at: string) =>
  (and: Knex.QueryBuilder): void => {
    and.where('confirmed_at', '>', new Date(Date.parse(at) - WATCH_MS).toISOString());
  };

/** This run has not searched for it, as a condition of a query. */
export const isUnchecked =
  (runId: string) =>
  (or: Knex.QueryBuilder): void => {
    or.whereNull('checked_run_id').orWhereNot('checked_run_id', runId);
  };

function sought(sql: Knex, { kind, at, runId, ready }: Sought): Knex.QueryBuilder {
  return sql('push_outbox')
    .where({ kind })
    .where((any) => {
      any.where({ state: 'unknown' });
      any.orWhere({ state: 'rejected', is_watched: true });
      any.orWhere((watched) =>
        watched.where({ state: 'confirmed', is_watched: true }).where(isWatchedAt(at)),
      );
      if (ready === 'none') return;
      any.orWhere((due) => {
        due.where({ state: 'ready' }).whereNotNull('payload');
        due.where(isDue(at));
        due.where(isUnchecked(runId));
        if (ready === 'in-doubt') due.whereNot(isCertain);
      });
    });
}

/** The different periods of the entries; empty where there are none. */
export const soughtPeriods = async (sql: Knex, what: Sought): Promise<{ start: string; end: string }[]> =>
  sought(sql, what).distinct({ start: 'period_start', end: 'period_end' });

export async function soughtEntries(
  sql: Knex,
  what: Sought,
  { isSent, period, after }: SoughtPage,
): Promise<OutboxEntry[]> {
  const entries = sought(sql, what).where('external_code', '>', after);
  if (isSent) entries.whereNotNull('sent_hash');
  else entries.whereNull('sent_hash');
  if (period !== undefined) {
    entries.where('period_start', '>=', period.start).where('period_end', '<=', period.end);
  }
  return entries.orderBy('external_code').limit(PAGE);
}

/** The identifiers among `ids` that an entry has already, with its code. */
export async function foreignIds(
  sql: Knex,
  kind: string,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const rows: OutboxEntry[] = await sql('push_outbox')
    .where({ kind })
    .whereIn('remote_id', [...ids]);
  return new Map(rows.map((row) => [Number(row.remote_id), row.external_code]));
}

export interface CheckMark {
  /** When the search began; an entry that changed since is not marked. */
  readAt: string;
  /** ISO instant of now; what lies after it was written before the clock was set back. */
  now: string;
}

/** These were looked for and are not at the service: this run may send them. */
export async function markChecked(
  sql: Knex,
  entries: readonly OutboxEntry[],
  runId: string,
  { readAt, now }: CheckMark,
): Promise<void> {
  const [first] = entries;
  if (first === undefined) return;
  await sql('push_outbox')
    .where({ kind: first.kind, state: 'ready' })
    .whereIn(
      'external_code',
      entries.map(({ external_code }) => external_code),
    )
    .where((or) => or.where('updated_at', '<=', readAt).orWhere('updated_at', '>', now))
    .update({ checked_run_id: runId, revision: nextRevision(sql) });
}

export interface Confirmed {
  remote_id: number | null;
  remote_key: string;
}

/** Enough to see whether a search shows any of them. */
const MOST_KNOWN = 500;

/** What the service confirmed before that instant, of a period where one is given; the newest of them. */
export function confirmedWithin(
  sql: Knex,
  kind: string,
  confirmedBefore: string,
  period: { start: string; end: string } | undefined,
): Promise<Confirmed[]> {
  const confirmed = sql('push_outbox')
    .where({ kind, state: 'confirmed' })
    .where('confirmed_at', '<=', confirmedBefore);
  if (period !== undefined) {
    confirmed.where('period_start', '>=', period.start).where('period_end', '<=', period.end);
  }
  return confirmed.orderBy('confirmed_at', 'desc').limit(MOST_KNOWN).select('remote_id', 'remote_key');
}

/** The period of the newest entry that a search has shown; undefined where none has. */
export async function shownPeriod(
  sql: Knex,
  kind: string,
): Promise<{ start: string; end: string } | undefined> {
  return sql('push_outbox')
    .where({ kind, state: 'confirmed' })
    .whereNotNull('seen_at')
    .whereNotNull('period_start')
    .orderBy('confirmed_at', 'desc')
    .first({ start: 'period_start', end: 'period_end' });
}
