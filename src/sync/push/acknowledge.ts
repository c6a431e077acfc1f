// Notifies the ERP of every state once it is stored: one by one, or by the result of the file that the ERP dropped. The ERP is
// notified first and that is stored afterwards, so a crash notifies twice rather than never.
import { asRoadbookError, type RoadbookError } from '../../core/errors.ts';
import type { EntryKey } from '../../warehouse/outbox/entry.ts';
import { type EntryStatus, markAcknowledged, unacknowledged } from '../../warehouse/outbox/queries.ts';
import { codeInClear, outcomeOf } from './codes.ts';
import { entriesOutsideFiles, finishFiles, waitingFiles } from './file-results.ts';
import type { PushRun } from './kind.ts';

export async function acknowledgeOutcomes(push: PushRun): Promise<void> {
  if (push.context.signal.aborted) return;
  try {
    const files = await waitingFiles(push);
    const isListening = await acknowledgeNews(push, entriesOutsideFiles(push, files));
    if (isListening) await finishFiles(push, files);
  } catch (thrown) {
    reportRefusal(push, asRoadbookError(thrown));
  }
}

function reportRefusal({ context, report }: PushRun, failure: RoadbookError): void {
  if (!context.signal.aborted) report(failure, 'ERP could not be notified');
}

/**
 * False where the ERP is away. A confirmed entry without its identifier waits a settling time for it, so that the ERP
 * learns both at once.
 */
async function acknowledgeNews(
  push: PushRun,
  outsideFiles: ReturnType<typeof entriesOutsideFiles>,
): Promise<boolean> {
  const { kind, settings, context, engine } = push;
  const idAwaitedSince = push.ago(settings.settle);
  const notifier = createNotifier<EntryStatus>(context.signal, async (entries) => {
    const outside = await outsideFiles(entries);
    await acknowledge(push, outside);
    // Those of a waiting file are left to its result: it comes, or they are acknowledged one by one after all.
    const inside = entries.filter((entry) => !outside.includes(entry));
    await engine.write(async ({ sql }) => {
      await markAcknowledged(sql, outside, push.now(), 'call');
      await markAcknowledged(sql, inside, push.now(), 'result');
    });
  });
  let isListening = true;
  for (let last: EntryKey | undefined; isListening; ) {
    const after = last;
    const entries = await engine.read((sql) => unacknowledged(sql, kind.feed, idAwaitedSince, after));
    last = entries.at(-1);
    if (last === undefined) break;
    isListening = await notifier.notify(entries);
  }
  const refusal = notifier.refusal();
  if (refusal !== undefined) reportRefusal(push, refusal);
  return isListening;
}

async function acknowledge({ feed }: PushRun, entries: readonly EntryStatus[]): Promise<void> {
  const outcomes = entries.flatMap((entry) => {
    const code = codeInClear(entry);
    return code === undefined ? [] : [outcomeOf(entry, code)];
  });
  await feed.source.acknowledge(outcomes);
}

/** An ERP that says so often in a row that it is not available is away, not choosy. */
const MOST_UNAVAILABLE = 30;

/**
 * Notifies the ERP of one list after another: all of it at once, or one by one where that is refused, so that one item
 * that the ERP refuses never silences the others. `send` notifies and stores that it did; it may throw for any part.
 */
export function createNotifier<T>(signal: AbortSignal, send: (some: readonly T[]) => Promise<void>) {
  let first: RoadbookError | undefined;
  let unavailable = 0;

  async function isTaken(some: readonly T[]): Promise<boolean> {
    try {
      await send(some);
      unavailable = 0;
      return true;
    } catch (thrown) {
      const refusal = asRoadbookError(thrown);
      if (!signal.aborted) first ??= refusal;
      if (refusal.code === 'erp_unreachable') unavailable = MOST_UNAVAILABLE;
      else unavailable = refusal.code === 'erp_unavailable' ? unavailable + 1 : 0;
      return false;
    }
  }

  const isListening = (): boolean => unavailable < MOST_UNAVAILABLE && !signal.aborted;

  return {
    /** False where the ERP is away: the rest is for the next run. */
    async notify(all: readonly T[]): Promise<boolean> {
      if (all.length === 0 || !isListening() || (await isTaken(all))) return isListening();
      if (all.length > 1) for (const one of all) if (isListening()) await isTaken([one]);
      return isListening();
    },
    /** The first refusal, if there was one. */
    refusal: () => first,
  };
}
