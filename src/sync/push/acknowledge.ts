// Notifies the ERP of every state once it is stored, and again of what the ERP still waits for. The ERP is notified
// first and that is stored afterwards, so a crash notifies twice rather than never.
import { asRoadbookError, type RoadbookError } from '../../core/errors.ts';
import { localDay } from '../../erp/moments.ts';
import type { AwaitedItem, Outcome, OutcomeState } from '../../erp/source.ts';
import { type EntryKey, type OutboxEntry, reasonsOf } from '../../warehouse/outbox/entry.ts';
import { entriesByCode, FINAL, markAcknowledged, unacknowledged } from '../../warehouse/outbox/queries.ts';
import { codesOf, isDigest } from './codes.ts';
import type { PushRun } from './kind.ts';

export async function acknowledgeOutcomes(push: PushRun): Promise<void> {
  if (push.context.signal.aborted) return;
  try {
    if (await acknowledgeNews(push)) await acknowledgeAwaited(push);
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
async function acknowledgeNews(push: PushRun): Promise<boolean> {
  const { kind, settings, context, engine } = push;
  const idAwaitedSince = push.ago(settings.settle);
  const notifier = createNotifier<OutboxEntry>(context.signal, (entries) => acknowledge(push, entries));
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

async function acknowledge({ feed, engine, now }: PushRun, entries: readonly OutboxEntry[]): Promise<void> {
  const outcomes = entries.flatMap((entry) => {
    const code = codeInClear(entry);
    return code === undefined ? [] : [outcomeOf(entry, code)];
  });
  await feed.source.acknowledge(outcomes);
  await engine.write(({ sql }) => markAcknowledged(sql, entries, now()));
}

/** Heals a crash between notifying and storing it, and answers an item that is offered a second time. */
async function acknowledgeAwaited(push: PushRun): Promise<void> {
  const { kind, feed, engine, digest } = push;
  const codeOf = ({ externalCode }: AwaitedItem): string =>
    codesOf(kind.feed, externalCode, digest).external_code;
  for await (const items of feed.source.awaited()) {
    const known = await engine.read((sql) => entriesByCode(sql, kind.feed, items.map(codeOf)));
    const outcomes = items.flatMap((item) => {
      const entry = entryOf(push, item, known.get(codeOf(item)) ?? []);
      if (entry === undefined || entry.told_at === null || !FINAL.includes(entry.state)) return [];
      return [{ ...outcomeOf(entry, item.externalCode), startDay: item.startDay }];
    });
    if (outcomes.length > 0) await feed.source.acknowledge(outcomes);
  }
}

/** The use of the code that starts on the item's day; where a plan has moved, the only use there is. */
function entryOf(
  { context }: PushRun,
  { startDay }: AwaitedItem,
  uses: readonly OutboxEntry[],
): OutboxEntry | undefined {
  const { timezone } = context.parts;
  const sameDay = uses.find(
    ({ period_start }) => period_start !== null && localDay(period_start, timezone) === startDay,
  );
  return sameDay ?? (uses.length === 1 ? uses[0] : undefined);
}

/** Undefined where the outbox holds a digest alone: such an item is acknowledged when the source asks for it. */
const codeInClear = ({ kind, external_code, erp_code }: OutboxEntry): string | undefined =>
  erp_code ?? (isDigest(kind, external_code) ? undefined : external_code);

const outcomeOf = (entry: OutboxEntry, externalCode: string): Outcome => ({
  externalCode,
  periodStart: entry.period_start,
  state: entry.state as OutcomeState,
  remoteId: entry.remote_id,
  message: entry.message,
  revision: entry.revision,
  ...(entry.reasons !== null && { reasons: reasonsOf(entry) }),
});

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
