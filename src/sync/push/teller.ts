// Tells the ERP one list after another: all of it at once, or one by one where that is refused, so that one thing
// that the ERP will not hear never silences the others. It stops where nobody listens.
import { asRoadbookError, type RoadbookError } from '../../core/errors.ts';

export interface Teller<T> {
  /** False where nobody listens any more: what is left is for the next run. */
  tell(all: readonly T[]): Promise<boolean>;
  /** The first refusal, if there was one. */
  refusal(): RoadbookError | undefined;
}

/** An ERP that says so often in a row that it is not available is away, not choosy. */
const MOST_UNAVAILABLE = 30;

/** `say` tells and notes what it told; it may throw for any part of a list. */
export function createTeller<T>(signal: AbortSignal, say: (some: readonly T[]) => Promise<void>): Teller<T> {
  let first: RoadbookError | undefined;
  let unavailable = 0;

  async function isHeard(some: readonly T[]): Promise<boolean> {
    try {
      await say(some);
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
    async tell(all) {
      if (all.length === 0 || !isListening() || (await isHeard(all))) return isListening();
      if (all.length > 1) for (const one of all) if (isListening()) await isHeard([one]);
      return isListening();
    },
    refusal: () => first,
  };
}
