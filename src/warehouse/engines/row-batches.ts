// Groups encoded rows into statements. The database is idle between statements, so few large ones are faster, but a larger
// one takes more memory.
import type { EncodedRows } from '../engine.ts';

export function rowBatches<Rows extends EncodedRows>(encoded: readonly Rows[], mostRows: number): Rows[][] {
  const batches: Rows[][] = [];
  let room = 0;
  for (const each of encoded) {
    if (each.count === 0) continue;
    const last = batches.at(-1);
    if (last === undefined || each.count > room) {
      batches.push([each]);
      room = mostRows - each.count;
    } else {
      last.push(each);
      room -= each.count;
    }
  }
  return batches;
}

export const countRows = (batch: readonly EncodedRows[]): number => batch.reduce((sum, { count }) => sum + count, 0);
