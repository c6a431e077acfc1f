// Many calls for one slice: so many at a time, and the first failure aborts the others, because the slice has failed with
// it. How many of them are sent at once is the limiter's to say.

/** All calls of a usual slice wait together, so that one slice after the other is read to its end. */
const AT_ONCE = 32;

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
