// Whose turn it is to write. A beat or a claim behind the loads of all workers would come too late for its lease.
import type { WriteOptions } from '../engine.ts';

/** Options of the queue of writes; within a priority the order of asking holds. */
export const turnOf = ({ isLong = false }: WriteOptions = {}): { priority: number } => ({
  priority: isLong ? 0 : 1,
});
