// Splits a list into chunks of at most `size`, in order.
export const chunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size));

/** The results of `read` for every chunk, one after another. */
export async function readInChunks<T, Row>(
  all: readonly T[],
  size: number,
  read: (some: T[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const some of chunks(all, size)) rows.push(...(await read(some)));
  return rows;
}

export const inTwo = <T>(all: readonly T[]): T[][] => chunks(all, Math.ceil(all.length / 2));
