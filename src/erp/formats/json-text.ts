// Parses the JSON of an ERP. An integer beyond 2^53 stays decimal text. A syntax error is reported by line and column,
// never with the text around it.
import { text } from 'node:stream/consumers';
import type { Json } from '../../core/json.ts';
import { parseLossless } from '../../core/text/lossless-json.ts';
import { decodeText, type Encoding, inEncoding, Unreadable } from './text-decoding.ts';

/** Without a name the encoding is found. */
export const parseJsonBytes = (bytes: Buffer, encoding: Encoding | undefined): Promise<Json> =>
  inEncoding(encoding, async (tried) => parseJson(await text(decodeText([bytes], tried))));

export function parseJson(text: string): Json {
  try {
    return parseLossless(text) as Json;
  } catch (error) {
    if (error instanceof RangeError) throw new Unreadable('JSON that is nested too deeply');
    throw new Unreadable(`broken JSON at ${placeOf(text, brokenAt(text.replace(/^\ufeff/, ' ')))}`);
  }
}

function placeOf(text: string, offset: number): string {
  let line = 1;
  let begin = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', begin)) {
    line++;
    begin = end + 1;
  }
  return `${line}:${offset - begin + 1}`;
}

const SPACE = /[ \t\n\r]*/y;
/** Any token except a string. */
const TOKEN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:]/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

/** Offset of the first unexpected token. Only called for a text that is known to be broken. */
function brokenAt(text: string): number {
  const open: string[] = [];
  let expected: Expected = 'value';
  for (let at = 0; ; ) {
    at = skip(SPACE, text, at);
    const end = text[at] === '"' ? textEnd(text, at) : skip(TOKEN, text, at);
    if (end === at) return at;
    const next = follow(expected, text.slice(at, end), open);
    if (next === undefined) return at;
    expected = next;
    at = end;
  }
}

/** End of the string that begins at `at`, or `at` if it has no end. Written by hand: a regular expression fails on long ones. */
function textEnd(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const character = text[i] as string;
    if (character === '"') return i + 1;
    if (character < ' ') return at;
    if (character !== '\\') continue;
    const end = skip(ESCAPE, text, i);
    if (end === i) return at;
    i = end - 1;
  }
  return at;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** What may follow `token`, or undefined if `token` is unexpected. */
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
