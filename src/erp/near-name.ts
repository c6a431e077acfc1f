// "Did you mean": the known name nearest to one that is not known; case and punctuation do not count.
import { distance } from 'fastest-levenshtein';

const LONGEST_NAME = 64;

export function nearName(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const typed = plain(name);
  let best: string | undefined;
  let bestSteps = Math.max(2, Math.floor(typed.length / 4)) + 1;
  for (const candidate of known) {
    const steps = distance(typed, plain(candidate));
    if (steps < bestSteps) [best, bestSteps] = [candidate, steps];
  }
  return best;
}

/** ` (did you mean …?)`, or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearName(name, known);
  return near === undefined ? '' : ` (did you mean "${near}"?)`;
}

const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
