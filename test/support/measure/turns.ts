// How often the event loop turns: only between two turns are requests answered and leases kept alive.

/** While the elements are read to their end, or to an error. */
export async function turnsDuring(elements: AsyncIterable<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const nextTurn = () => {
    turns += 1;
    if (!isOver) setImmediate(nextTurn);
  };
  setImmediate(nextTurn);
  try {
    for await (const _ of elements);
  } catch {
    // The elements and the error do not matter here.
  }
  isOver = true;
  return turns;
}

/** The milliseconds of computing that the work takes, and the most of them without a turn. */
export async function computingDuring(work: () => Promise<unknown>): Promise<{ total: number; longestBlock: number }> {
  const now = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  const start = now();
  let last = start;
  let longestBlock = 0;
  let isOver = false;
  const nextTurn = () => {
    longestBlock = Math.max(longestBlock, now() - last);
    last = now();
    if (!isOver) setImmediate(nextTurn);
  };
  setImmediate(nextTurn);
  await work();
  isOver = true;
  await new Promise((turn) => setImmediate(turn));
  return { total: now() - start, longestBlock };
}
