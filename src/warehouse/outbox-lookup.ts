// Finds entries of the outbox, and adds new ones; what moves them is elsewhere.
import type { Knex } from 'knex';
import type { EntryChange, EntryKey, OutboxEntry } from './outbox-entry.ts';
import type { OutboxState } from './outbox-states.ts';

/** By code; codes that are not there are left out. */
export async function entriesByCode(
  sql: Knex,
  kind: string,
  codes: readonly string[],
): Promise<Map<string, OutboxEntry>> {
  const rows: OutboxEntry[] = await sql('push_outbox')
    .where({ kind })
    .whereIn('external_code', [...codes]);
  return new Map(rows.map((row) => [row.external_code, row]));
}

export type NewEntry = EntryChange &
  EntryKey & { state: 'ready' | 'rejected'; content_hash: string; remote_key: string };

export async function addEntry(sql: Knex, entry: NewEntry, at: string): Promise<void> {
  const counted = { attempts: 0, unclear_sends: 0, revision: 1 };
  await sql('push_outbox').insert({ ...counted, ...entry, created_at: at, updated_at: at });
}

export interface EntrySearch {
  states?: readonly OutboxState[];
  kind?: string;
  /** A part of the code. */
  code?: string;
  limit: number;
  offset?: number;
}

/** For people: unknown first, then by what changed last. */
export async function searchEntries(sql: Knex, search: EntrySearch): Promise<OutboxEntry[]> {
  const { states, kind, code, limit, offset = 0 } = search;
  const query = sql<OutboxEntry>('push_outbox');
  if (states !== undefined) query.whereIn('state', [...states]);
  if (kind !== undefined) query.where({ kind });
  if (code !== undefined) query.whereRaw("lower(external_code) like ? escape '!'", [`%${likeText(code)}%`]);
  return query
    .orderByRaw("case state when 'unknown' then 0 when 'sending' then 1 when 'rejected' then 2 else 3 end")
    .orderBy('updated_at', 'desc')
    .orderBy('external_code')
    .limit(limit)
    .offset(offset);
}

/** Small letters of ASCII, as every engine's `lower` makes them; what LIKE would read otherwise is escaped. */
const likeText = (text: string): string =>
  text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll(/[!%_]/g, '!$&');

/** Entries with exactly this code, of any kind. */
export const entriesNamed = (sql: Knex, code: string, kind?: string): Promise<OutboxEntry[]> =>
  sql('push_outbox').where({ external_code: code, ...(kind === undefined ? {} : { kind }) });

/** How many entries start within the period, by state. */
export const statesOfPeriod = async (
  sql: Knex,
  kind: string,
  { start, end }: { start: string; end: string },
): Promise<{ state: OutboxState; n: number }[]> => {
  const rows: { state: OutboxState; n: number }[] = await sql('push_outbox')
    .where({ kind })
    .where('period_start', '>=', start)
    .where('period_start', '<', end)
    .groupBy('state')
    .select('state', sql.raw('count(*) as n'));
  return rows.map(({ state, n }) => ({ state, n: Number(n) }));
};

const PAGE = 100;

/** Confirmed plans that have begun and did not end long ago, by code. */
export const runningPlans = (
  sql: Knex,
  { startedBy, endedAfter }: { startedBy: string; endedAfter: string },
  afterCode: string,
): Promise<OutboxEntry[]> =>
  sql('push_outbox')
    .where({ kind: 'route_plans', state: 'confirmed' })
    .whereNotNull('remote_id')
    .where('period_start', '<=', startedBy)
    .where('period_end', '>', endedAfter)
    .where('external_code', '>', afterCode)
    .orderBy('external_code')
    .limit(PAGE);
