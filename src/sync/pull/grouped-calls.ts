// Many calls for one slice: a group at a time, so that a failure starts no further ones and only one group of
// answers is on its way. How many go out at once is the limiter's to say.

/** Enough to keep every lane of the limiter busy. */
const GROUP = 16;

export async function inGroups<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += GROUP) {
    results.push(...(await Promise.all(items.slice(start, start + GROUP).map(work))));
  }
  return results;
}
