// JSON as an ERP writes it: an integer beyond 2^53 stays as decimal text, and what is broken is told by line and
// column, never by the text around it.
import type { Json } from '../core/glossary.ts';

export class UnreadableJson extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableJson';
  }
}

const LONG_INTEGER = /[[:,\s]-?\d{16}|^-?\d{16}/;

export function parseJson(text: string): Json {
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  try {
    return (LONG_INTEGER.test(plain) ? JSON.parse(plain, keepLongIntegers) : JSON.parse(plain)) as Json;
  } catch {
    throw new UnreadableJson(`broken JSON at ${placeOf(plain, brokenAt(plain))}`);
  }
}

function keepLongIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) ? source : value;
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

const SPACE = /[ \t\n\r]*/y;
const TOKEN =
  /"(?:[^"\\\n\r\t]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:]/y;

type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

/** Offset of the first token that cannot stand where it does. Only asked once a text is known to be broken. */
function brokenAt(text: string): number {
  const open: string[] = [];
  let expected: Expected = 'value';
  for (let at = 0; ; ) {
    at = skip(SPACE, text, at);
    const end = skip(TOKEN, text, at);
    if (end === at) return at;
    const next = follow(expected, text.slice(at, end), open);
    if (next === undefined) return at;
    expected = next;
    at = end;
  }
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** What may come after `token`, or undefined where it may not stand. */
function follow(expected: Expected, token: string, open: string[]): Expected | undefined {
  const afterValue = (): Expected => (open.length === 0 ? 'nothing' : 'comma or end');
  if (token === ']' || token === '}') {
    if (!expected.endsWith('or end') || open.pop() !== (token === ']' ? '[' : '{')) return undefined;
    return afterValue();
  }
  if (token === ',') {
    if (expected !== 'comma or end') return undefined;
    return open.at(-1) === '[' ? 'value' : 'name';
  }
  if (token === ':') return expected === 'colon' ? 'value' : undefined;
  if (expected.startsWith('name')) return token.startsWith('"') ? 'colon' : undefined;
  if (!expected.startsWith('value')) return undefined;
  if (token !== '[' && token !== '{') return afterValue();
  open.push(token);
  return token === '[' ? 'value or end' : 'name or end';
}
