// The calls of a slice, and the source that it reads from. Calls for history wait for calls for current data. Many calls
// run in parallel, and the first failure aborts the others, because the slice has failed. The limiter decides how many are
// sent at once.
import { Fatal } from '../../core/errors.ts';
import { PRIORITY } from '../../core/rate/rate.ts';
import type { CallContext } from '../../fleet/client.ts';
import { factMemory } from '../../warehouse/control/learned-facts.ts';
import type { RunContext } from '../job.ts';
import type { Slice } from '../slice.ts';
import { TOO_MANY } from './plan/slice-limits.ts';
import { mapRecords } from './records/map-records.ts';
import type { Source } from './types.ts';

/** Enough for all calls of a usual slice to wait together, so that slices finish one after the other. */
const AT_ONCE = 32;

/** A period that ended longer ago is history: part of a first fill or of a requested period. */
const LIVE_MS = 86_400_000;

/** Pushes and current data go before history. A slice that covers nothing, such as one by id, counts as current. */
export function priorityOf({ covers = [] }: Slice, { period, comparing, dependencies }: RunContext): number {
  if (period?.resumable === true || comparing !== undefined) return PRIORITY.history;
  const liveFrom = dependencies.clock.now() - LIVE_MS;
  const isPast = covers.length > 0 && covers.every(({ endAt }) => Date.parse(endAt) <= liveFrom);
  return isPast ? PRIORITY.history : PRIORITY.live;
}

/**
 * Among slices of one priority. History is read day by day for all vehicles: a day must not seem complete while most of them
 * have not come to it. Other slices keep the order of the plan.
 */
export function historyOrder(slice: Slice, context: RunContext): number {
  const [first] = slice.covers ?? [];
  return first === undefined || priorityOf(slice, context) !== PRIORITY.history ? 0 : Date.parse(first.beginAt);
}

/** The members of a source that belong to one reading of a slice. */
type Reading = Pick<Source, 'readAt' | 'commitPart' | 'prepare' | 'atEnd'>;

export function createSource(slice: Slice, context: RunContext, reading: Reading): Source {
  const { dependencies, comparing } = context;
  const mayStore = comparing?.repair !== false;
  const source: Source = {
    call: callWith(slice, context, context.signal),
    checkCalls: (count) => checkCallsLeft(context, count),
    mapCalls: (items, work) =>
      mapCalls(items, context.signal, (signal) => {
        checkCallsLeft(context, items.length);
        const aborting = { ...source, call: callWith(slice, context, signal) };
        return (item) => work(item, aborting);
      }),
    ...reading,
    map: (load) => mapRecords(load, dependencies.privacy),
    asStored: dependencies.privacy.asStored,
    warehouse: dependencies.engine,
    async remember(name, fact) {
      if (mayStore) await factMemory(dependencies.engine, name).write(fact, dependencies.clock.now());
    },
    isCompared: comparing !== undefined,
    openIds: ({ name }) => comparing?.open.get(name) ?? new Set(),
    mayStore,
    urlBytes: dependencies.fleet.urlBytes,
    images: dependencies.images,
    log: context.log,
  };
  return source;
}

function callWith(slice: Slice, context: RunContext, signal: AbortSignal): Source['call'] {
  const calling = callContext(context, signal, priorityOf(slice, context));
  return async (endpoint, request) => {
    checkCallsLeft(context, 1);
    return context.dependencies.fleet.call(endpoint, request, calling);
  };
}

/** Every request counts, also retries and logins. None is sent once no call is left, except to get a token. */
export function callContext(context: RunContext, signal: AbortSignal, priority: number): CallContext {
  const { counts, runId, callsLeft } = context;
  return {
    signal,
    priority,
    runId,
    onRequest() {
      counts.requests++;
      if (callsLeft !== undefined) callsLeft.count--;
    },
    onRetry: () => void counts.retries++,
    beforeSend: () => checkCallsLeft(context, 1),
  };
}

/** Checked before many calls are made, so that a slice that cannot be finished costs few. Fatal, so that no job skips it. */
function checkCallsLeft({ callsLeft }: RunContext, wanted: number): void {
  if (callsLeft === undefined || wanted <= callsLeft.count) return;
  throw new Fatal(`The slice needs ${wanted} more calls, and ${callsLeft.count} are left`, {
    code: TOO_MANY,
    hint: 'Raise max_calls.',
  });
}

/** `workWith` gets the signal that aborts the calls. The results are in the order of the items. */
export async function mapCalls<Item, Result>(
  items: readonly Item[],
  signal: AbortSignal,
  workWith: (signal: AbortSignal) => (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const failed = new AbortController();
  const ended = AbortSignal.any([signal, failed.signal]);
  const work = workWith(ended);
  const results: Result[] = [];
  const left = items.entries();
  const slot = async (): Promise<void> => {
    for (const [index, item] of left) {
      if (ended.aborted) return;
      results[index] = await work(item);
    }
  };
  // Only the first failure is kept. Wait for all slots before the slice continues, so that none still stores or counts.
  const slots = Array.from({ length: Math.min(AT_ONCE, items.length) }, () =>
    slot().catch((error: unknown) => failed.abort(error)),
  );
  await Promise.all(slots);
  ended.throwIfAborted();
  return results;
}
