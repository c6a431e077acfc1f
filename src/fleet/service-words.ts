// The reason inside a refusal. The form of error bodies is not documented, so only fields that commonly hold a
// message are read, short and redacted; a body of any other form says nothing.
import { parseJson } from './json.ts';

const MESSAGE_FIELDS = ['message', 'error', 'detail', 'description', 'errors', 'reason'];
const LONGEST = 300;
/** Characters of a refusal that are looked at, however long it is. */
const MOST_READ = 64_000;
/** No secret is longer, so no half of one that was cut at the end reaches further back. */
const LONGEST_SECRET = 16_000;

export function serviceWords(body: Buffer, redact: (text: string) => string): string | undefined {
  let document: unknown;
  try {
    document = parseJson(body.toString('utf8'));
  } catch {
    return undefined;
  }
  const words = wordsIn(document, 0).join('; ');
  return words === '' ? undefined : shortened(words, redact);
}

function shortened(words: string, redact: (text: string) => string): string {
  const clean = redact(words.slice(0, MOST_READ));
  return (words.length > MOST_READ ? clean.slice(0, -LONGEST_SECRET) : clean).slice(0, LONGEST);
}

function wordsIn(value: unknown, depth: number): string[] {
  if (depth > 3 || value === null) return [];
  if (typeof value === 'string') return depth === 0 ? [] : [value];
  if (Array.isArray(value)) return value.slice(0, 5).flatMap((item) => wordsIn(item, depth + 1));
  if (typeof value !== 'object') return [];
  const fields = value as Record<string, unknown>;
  return MESSAGE_FIELDS.flatMap((name) =>
    Object.hasOwn(fields, name) ? wordsIn(fields[name], depth + 1) : [],
  );
}
