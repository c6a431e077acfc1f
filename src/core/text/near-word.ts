// "Did you mean": the known word nearest to a mistyped one, or none if no word is near.
import { closest, distance } from 'fastest-levenshtein';

/** Longer words are no typos of known words, and comparing them takes time. */
const LONGEST_WORD = 64;

export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > LONGEST_WORD || candidates.length === 0) return undefined;
  const typed = plain(word);
  const known = candidates.map(plain);
  const best = closest(typed, known);
  const most = typed.length < 4 ? 1 : Math.max(2, Math.floor(typed.length / 3));
  return distance(typed, best) <= most ? candidates[known.indexOf(best)] : undefined;
}

/** The nearest word as a question, or the list of all words. */
export function suggest(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  if (near !== undefined) return `did you mean \`${near}\`?`;
  if (candidates.length === 0) return 'no value is allowed here; remove it';
  return `use one of ${candidates.map((candidate) => `\`${candidate}\``).join(', ')}`;
}

const plain = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}/]/gu, '');

/** ` (did you mean …?)` for the end of a sentence, or an empty text. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : ` (did you mean "${near}"?)`;
}
