// Notifies the ERP of one list after another: all of it at once, or one by one where that is refused, so that one item
// that the ERP refuses never silences the others. It stops where the ERP is away.
import { asRoadbookError, type RoadbookError } from '../../core/errors.ts';

export interface Notifier<T> {
  /** False where the ERP is away: the rest is for the next run. */
  notify(all: readonly T[]): Promise<boolean>;
  /** The first refusal, if there was one. */
  refusal(): RoadbookError | undefined;
}

/** An ERP that says so often in a row that it is not available is away, not choosy. */
const MOST_UNAVAILABLE = 30;

/** `send` notifies and stores that it did; it may throw for any part of a list. */
export function createNotifier<T>(
  signal: AbortSignal,
  send: (some: readonly T[]) => Promise<void>,
): Notifier<T> {
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
    async notify(all) {
      if (all.length === 0 || !isListening() || (await isTaken(all))) return isListening();
      if (all.length > 1) for (const one of all) if (isListening()) await isTaken([one]);
      return isListening();
    },
    refusal: () => first,
  };
}
