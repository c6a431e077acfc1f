// The calls of a slice and what else it reads from. Calls of history wait for those of what is happening now. Many calls go
// out so many at a time, and the first failure aborts the others, because the slice has failed with it. How many of them
// are sent at once is the limiter's to say.
import { PRIORITY } from '../../core/rate/limiter.ts';
import { factMemory } from '../../warehouse/control/learned-facts.ts';
import type { RunContext } from '../job.ts';
import type { Slice } from '../slice.ts';
import { mapRecords } from './records/map-records.ts';
import type { Source } from './types.ts';

/** All calls of a usual slice wait together, so that one slice after the other is read to its end. */
const AT_ONCE = 32;

/** What ended longer ago is history, of a first fill or of a period that was asked for. */
const LIVE_MS = 86_400_000;

/** Pushes and what is happening now go before history. A slice that covers nothing, such as one by id, is of now. */
export function priorityOf({ covers = [] }: Slice, { period, dependencies }: RunContext): number {
  if (period?.resumable === true) return PRIORITY.history;
  const liveFrom = dependencies.clock.now() - LIVE_MS;
  const isPast = covers.length > 0 && covers.every(({ endAt }) => Date.parse(endAt) <= liveFrom);
  return isPast ? PRIORITY.history : PRIORITY.live;
}

/** What belongs to one reading of a slice. */
type Reading = Pick<Source, 'readAt' | 'commitPart' | 'prepare' | 'atEnd'>;

export function createSource(slice: Slice, context: RunContext, reading: Reading): Source {
  const { dependencies } = context;
  const source: Source = {
    call: callWith(slice, context, context.signal),
    mapCalls: (items, work) =>
      mapCalls(items, context.signal, (signal) => {
        const aborting = { ...source, call: callWith(slice, context, signal) };
        return (item) => work(item, aborting);
      }),
    readAt: reading.readAt,
    prepare: reading.prepare,
    commitPart: reading.commitPart,
    atEnd: reading.atEnd,
    map: (load) => mapRecords(load, dependencies.privacy),
    asStored: dependencies.privacy.asStored,
    warehouse: dependencies.engine,
    recall: (name) => factMemory<never>(dependencies.engine, name).read(),
    remember: (name, fact) =>
      factMemory<typeof fact>(dependencies.engine, name).write(fact, dependencies.clock.now()),
    urlBytes: dependencies.fleet.urlBytes,
    images: dependencies.images,
    timezone: dependencies.timezone,
  };
  return source;
}

function callWith(slice: Slice, context: RunContext, signal: AbortSignal): Source['call'] {
  const { dependencies, counts } = context;
  const priority = priorityOf(slice, context);
  const onRequest = (): void => void counts.requests++;
  const onRetry = (): void => void counts.retries++;
  return (endpoint, request) =>
    dependencies.fleet.call(endpoint, request, { signal, priority, onRequest, onRetry });
}

/** `workWith` gets the signal that ends the calls; the results come in the order of the items. */
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
  // Only the first reason is kept. All have ended before the slice goes on: none may still store or count something.
  const slots = Array.from({ length: Math.min(AT_ONCE, items.length) }, () =>
    slot().catch((error: unknown) => failed.abort(error)),
  );
  await Promise.all(slots);
  ended.throwIfAborted();
  return results;
}
