// Notifies the ERP of every stored outcome: by a call, or by the result of the file that the ERP dropped. The ERP is
// notified before the notification is stored, so after a crash it is notified twice rather than never.
import { chunks } from '../../core/chunks.ts';
import { asRoadbookError, type RoadbookError } from '../../core/errors.ts';
import { NotifiedInPart } from '../../erp/source.ts';
import { type EntryKey, nameOf } from '../../warehouse/outbox/entry.ts';
import {
  type EntrySummary,
  entriesByKey,
  markAcknowledged,
  type Period,
  unacknowledged,
} from '../../warehouse/outbox/queries.ts';
import { codeInClear, itemOutcome } from './codes.ts';
import { finishFiles, type WaitingFile, waitingFiles } from './file-results.ts';
import type { PushRun, RepeatedNotification } from './kind.ts';

export async function acknowledgeOutcomes(push: PushRun): Promise<void> {
  if (push.context.signal.aborted) return;
  // A confirmed entry without an identifier waits up to `settle` for it, so that the ERP gets both in one notification.
  const { settle } = push.settings;
  const idAwaited: Period = { start: push.ago(settle), end: push.ago(-settle) };
  try {
    const files = await waitingFiles(push);
    const isErpAvailable = await acknowledgeEntries(push, files, idAwaited);
    if (isErpAvailable) await finishFiles(push, files, idAwaited);
  } catch (thrown) {
    reportFailure(push, asRoadbookError(thrown));
  }
}

function reportFailure({ context, report }: PushRun, failure: RoadbookError): void {
  if (!context.signal.aborted) report(failure, 'ERP could not be notified');
}

/** Notifies the ERP by calls of the entries that are in no waiting file. False if the ERP is unavailable. */
async function acknowledgeEntries(push: PushRun, files: readonly WaitingFile[], idAwaited: Period): Promise<boolean> {
  const { kind, feed, context, engine } = push;
  const entriesInFiles = files.flatMap(({ entries, unread }) => [...entries, ...unread]);
  const inFiles = new Set(entriesInFiles.map((entry) => entry && nameOf(entry)));
  const notifier = createNotifier<EntrySummary>(context.signal, async (entries) => {
    const named = entries.filter((entry) => codeInClear(entry) !== undefined);
    const outcomes = named.map((entry) => itemOutcome(entry, codeInClear(entry) ?? ''));
    const failed = await notifyEach(() => feed.source.acknowledge(outcomes));
    const failures = new Map([...failed].map(([i, failure]) => [named[i], failure]));
    const done = entries.filter((entry) => !failures.has(entry));
    await engine.write(({ sql }) => markAcknowledged(sql, kind.feed, done, push.now()));
    return [...failed.values()];
  });
  let isErpAvailable = true;
  for (let last: EntryKey | undefined; isErpAvailable; ) {
    const after = last;
    const entries = await engine.read((sql) => unacknowledged(sql, kind.feed, idAwaited, after));
    last = entries.at(-1);
    if (last === undefined) break;
    isErpAvailable = await notifier.notify(entries.filter((entry) => !inFiles.has(nameOf(entry))));
  }
  // Last, so that they never hold up a first notification.
  const again = push.again.filter((entry) => !inFiles.has(nameOf(entry)));
  for (const page of chunks(again, PAGE)) {
    if (!isErpAvailable) break;
    isErpAvailable = await notifier.notify(await unchanged(push, page));
  }
  const failure = notifier.failure();
  if (failure !== undefined) reportFailure(push, failure);
  return isErpAvailable;
}

const PAGE = 200;

async function unchanged({ kind, engine }: PushRun, some: readonly RepeatedNotification[]): Promise<EntrySummary[]> {
  const entries = await engine.read((sql) => entriesByKey(sql, kind.feed, some));
  const codes = new Map(some.map((each) => [nameOf(each), each.erp_code]));
  return entries.map((entry) => ({ ...entry, erp_code: codes.get(nameOf(entry)) ?? null }));
}

/** The failures of single entries, by their place in the list. Throws if the whole list failed. */
export async function notifyEach(notify: () => Promise<void>): Promise<NotifiedInPart['failures']> {
  try {
    await notify();
  } catch (thrown) {
    if (thrown instanceof NotifiedInPart) return thrown.failures;
    throw thrown;
  }
  return new Map();
}

/** After so many `erp_unavailable` answers in a row the ERP counts as unavailable, not as rejecting single items. */
const MOST_UNAVAILABLE = 30;

/** After one of these the ERP counts as unavailable at once: each further rejected login could lock the account. */
const STOPPING = ['erp_unreachable', 'erp_login_rejected'];

/**
 * Notifies the ERP of one list after another: a list in one call, or item by item if that call fails, so that one item
 * that the ERP rejects never holds up the others. `send` notifies the ERP and stores the notification. It throws if the list
 * failed as a whole, and resolves to the failures of single items otherwise.
 */
export function createNotifier<T>(
  signal: AbortSignal,
  send: (some: readonly T[]) => Promise<readonly RoadbookError[]>,
) {
  let first: RoadbookError | undefined;
  let unavailable = 0;

  function note(failure: RoadbookError): void {
    if (!signal.aborted) first ??= failure;
    if (STOPPING.includes(failure.code)) unavailable = MOST_UNAVAILABLE;
    else unavailable = failure.code === 'erp_unavailable' ? unavailable + 1 : 0;
  }

  async function isAnswered(some: readonly T[]): Promise<boolean> {
    try {
      const failures = await send(some);
      if (failures.length < some.length) unavailable = 0;
      failures.forEach(note);
      return true;
    } catch (thrown) {
      note(asRoadbookError(thrown));
      return false;
    }
  }

  const mayContinue = (): boolean => unavailable < MOST_UNAVAILABLE && !signal.aborted;

  return {
    /** False if the ERP is unavailable or the run was aborted: the next run notifies the rest. */
    async notify(all: readonly T[]): Promise<boolean> {
      if (all.length === 0 || !mayContinue() || (await isAnswered(all))) return mayContinue();
      if (all.length > 1) for (const one of all) if (mayContinue()) await isAnswered([one]);
      return mayContinue();
    },
    failure: () => first,
  };
}
