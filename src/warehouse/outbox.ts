// The outbox as a queue: entries are claimed one by one, each claim committed before its caller sends anything.
// What a dead process left in `sending` becomes `unknown`, never `ready`.
import type { Engine, Transaction } from './engine.ts';
import {
  type EntryChange,
  type EntryKey,
  isCertain,
  isDue,
  keyOf,
  moveEntry,
  NOT_ABSENT,
  nextRevision,
  noteEntry,
  type OutboxEntry,
  UNSENT,
} from './outbox-entry.ts';
import { OUTBOX_STATES, type OutboxState } from './outbox-states.ts';
import { unseenTwin } from './outbox-twins.ts';
import { closeOpenAttempts, openAttempt } from './push-attempts.ts';

export interface Claim {
  kind: string;
  runId: string;
  at: string;
  /** Entries that this run has not found absent from the service are left alone. */
  checkedOnly: boolean;
  /** By what the service will show a payload: nothing is sent under a key that was not searched for. */
  keyOf(payload: string): string;
  /**
   * One key is one thing at the service: of several entries with it, one is sent, and the others are found. Goes with
   * `checkedOnly`: one that has to wait loses its check, and is not due again before the next search.
   */
  isOneAKey: boolean;
}

export interface Claimed {
  entry: OutboxEntry;
  /** What the service has if the send does not change it. */
  sentBefore: string | null;
  /** Number of the attempt. */
  attempt: number;
}

/** Takes the entry that starts first; undefined where nothing is due. */
export function claimNext(engine: Engine, claim: Claim): Promise<Claimed | undefined> {
  return engine.write(async (tx) => {
    const found = await firstFree(tx, claim);
    if (found === undefined) return undefined;
    const { entry, remote_key } = found;
    const { runId, at } = claim;
    const what = entry.remote_id === null ? 'create' : 'change';
    const attempt = await openAttempt(tx, entry, { what, runId, at });
    const taken = { owner_run_id: runId, sent_hash: entry.content_hash, sent_at: at, remote_key };
    const counted = { ...taken, attempts: entry.attempts + 1 };
    if (!(await moveEntry(tx, entry, 'claim', at, counted))) return undefined;
    if (claim.isOneAKey) await forgetAbsence(tx, claim.kind, remote_key);
    return { entry: { ...entry, ...counted, state: 'sending' }, attempt, sentBefore: entry.sent_hash };
  });
}

/** What was searched for before this send does not tell whether it arrived. */
const forgetAbsence = async ({ sql }: Transaction, kind: string, remote_key: string): Promise<void> => {
  await sql('push_outbox')
    .where({ kind, remote_key, state: 'ready' })
    .update({ ...NOT_ABSENT, revision: nextRevision(sql) });
};

/** One that the search of this run could not show has to be searched for once more. */
async function firstFree(
  tx: Transaction,
  claim: Claim,
): Promise<{ entry: OutboxEntry; remote_key: string } | undefined> {
  for (;;) {
    const entry = await firstDue(tx, claim);
    if (entry === undefined) return undefined;
    const remote_key = claim.keyOf(entry.payload ?? '{}');
    const held = await whyHeld(tx, entry, remote_key, claim);
    if (held === undefined) return { entry, remote_key };
    const isKept = await noteEntry(tx, entry, { ...held, remote_key, checked_run_id: null });
    if (!isKept) return undefined;
  }
}

/** Why the search for this entry could not show that it may be sent, though it showed nothing. */
async function whyHeld(
  tx: Transaction,
  entry: OutboxEntry,
  remote_key: string,
  claim: Claim,
): Promise<EntryChange | undefined> {
  // What was sent under the other key is not there, by the rules that let it be sent again.
  if (entry.remote_id === null && remote_key !== entry.remote_key)
    return { ...UNSENT, message: 'It has another key now, by which it is looked for before it is sent' };
  const twin = claim.isOneAKey ? await unseenTwin(tx, entry, claim) : undefined;
  return twin === undefined
    ? undefined
    : { message: `${twin} is the same thing and comes first; this one is looked for before it is sent` };
}

function firstDue({ sql }: Transaction, { kind, runId, at, checkedOnly }: Claim) {
  const due = sql<OutboxEntry>('push_outbox')
    .where({ kind, state: 'ready' })
    .whereNotNull('payload')
    .where(isDue(at));
  const checked = due.where((or) => {
    or.where('checked_run_id', runId);
    if (!checkedOnly) or.orWhere(isCertain);
  });
  // In SQL's own words: knex would order SQLite by whether there is a start, and not by the start.
  return checked.orderByRaw('period_start asc nulls first').orderBy('external_code').first();
}

/** What a run has searched for it searches for again: something else may have arrived since. */
export const forgetChecks = (engine: Engine, kind: string, runId: string): Promise<void> =>
  engine.write(async ({ sql }) => {
    await sql('push_outbox')
      .where({ kind, state: 'ready', checked_run_id: runId })
      .update({ checked_run_id: null, revision: nextRevision(sql) });
  });

/** Longer than any send can take: the owner of an older one is gone, wherever it ran. */
const OUTLIVED_MS = 1_800_000;

/** Entries whose run is not running any more become unknown; gives their keys. */
export function recoverSending(engine: Engine, kind: string, at: string): Promise<EntryKey[]> {
  const outlivedAt = new Date(Date.parse(at) - OUTLIVED_MS).toISOString();
  return engine.write(async (tx) => {
    const running = tx.sql('sync_run').where({ status: 'running' }).select('run_id');
    const left: OutboxEntry[] = await tx
      .sql('push_outbox')
      .where({ kind, state: 'sending' })
      .where((or) => or.whereNotIn('owner_run_id', running).orWhere('sent_at', '<', outlivedAt));
    for (const entry of left) {
      const message = 'The process that sent it ended before the answer was stored';
      const change = { message, unknown_since: at, unclear_sends: entry.unclear_sends + 1 };
      await moveEntry(tx, entry, 'lose', at, change);
      await closeOpenAttempts(tx, entry, { outcome: 'unclear', message });
    }
    return left.map(keyOf);
  });
}

export const outboxCounts = (engine: Engine): Promise<Record<OutboxState, number>> =>
  engine.read(async (sql) => {
    const rows: { state: OutboxState; n: number }[] = await sql('push_outbox')
      .groupBy('state')
      .select('state', sql.raw('count(*) as n'));
    const counts = Object.fromEntries(OUTBOX_STATES.map((state) => [state, 0])) as Record<
      OutboxState,
      number
    >;
    for (const { state, n } of rows) counts[state] = Number(n);
    return counts;
  });

/** Since when the outcome of the longest unresolved entry is not known; null where there is none. */
export const oldestUnknown = (engine: Engine): Promise<string | null> =>
  engine.read(async (sql) => {
    const [row] = await sql('push_outbox').where({ state: 'unknown' }).min({ since: 'unknown_since' });
    return row?.since ?? null;
  });

/** Drops the content of refused entries that nobody has sent again by then. */
export const dropOldPayloads = (engine: Engine, kind: string, before: string): Promise<number> =>
  engine.write(({ sql }) =>
    sql('push_outbox')
      .where({ kind, state: 'rejected' })
      .whereNotNull('payload')
      .where('updated_at', '<', before)
      .update({ payload: null }),
  );
