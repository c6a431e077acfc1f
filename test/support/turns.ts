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
