// Decodes a file or an answer as it streams: UTF-8 with or without a byte order mark, UTF-16 with one, or the encoding that
// is named. Windows-1252 is recognised by its words. Anything else is an error at its first invalid byte.
import { TextDecoder } from 'node:util';
import { asIbm850, westernGuess } from './western-guess.ts';

/** The content of a file or an answer cannot be read; the message is the reason, with at most one word of the content. */
export class Unreadable extends Error {
  /** The row that cannot be read, if it is known. */
  readonly row: number | undefined;
  constructor(reason: string, row?: number) {
    super(reason);
    this.row = row;
  }
}

/** The bytes are not UTF-8; they may be Windows-1252. */
export class NotUtf8 extends Unreadable {
  readonly byte: number;
  /** `word` may mean two things. */
  constructor(byte: number, word = '') {
    const meant = word === '' ? '' : `: may be ${word}`;
    super(`not UTF-8 at byte ${byte}${meant}; save as UTF-8, or set \`encoding\` of the feed`);
    this.byte = byte;
  }
}

/** The bytes may be Windows-1252, but are not surely so. The message is the word in doubt, or empty. */
export class NotWestern extends Unreadable {}

export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1', 'ibm850'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export interface TextForm {
  /** Default: UTF-8, or UTF-16 by its byte order mark. */
  encoding?: Encoding | undefined;
  /** The encoding is Windows-1252 only if the text proves it. */
  isGuess?: boolean;
}

export async function* decodeText(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  { encoding, isGuess = false }: TextForm = {},
): AsyncIterable<string> {
  /** Begin with the bytes of a character that the last chunk cut. */
  let bytes: Buffer = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  let passed = 0;
  const guess = isGuess ? westernGuess() : undefined;
  const rejectIf = (doubt: string | undefined): void => {
    if (doubt !== undefined) throw new NotWestern(doubt);
  };
  const decode = (chunk?: Buffer): string => {
    try {
      return decoder?.decode(chunk, { stream: chunk !== undefined }) ?? '';
    } catch {
      if (decoder?.encoding !== 'utf-8') throw new Unreadable('not valid UTF-16; save as UTF-8');
      throw new NotUtf8(passed + firstBadByte(bytes) + 1);
    }
  };
  for await (const chunk of chunks) {
    bytes = Buffer.concat([bytes, chunk]);
    // The decoder does not know CP850.
    const known = encoding === 'ibm850' ? 'windows-1252' : encoding;
    decoder ??= new TextDecoder(known ?? encodingOf(bytes), { fatal: true, ignoreBOM: true });
    const decoded = decode(chunk);
    const text = encoding === 'ibm850' ? asIbm850(decoded) : decoded;
    rejectIf(guess?.read(text));
    const size = decoder.encoding === 'utf-8' ? Buffer.byteLength(text) : bytes.length - (bytes.length % 2);
    yield passed === 0 ? text.replace(/^\ufeff/, '') : text;
    bytes = bytes.subarray(size);
    passed += size;
  }
  yield decode();
  rejectIf(guess?.end());
}

/** Reads in the encoding that is named, or else in UTF-8 or UTF-16, or else in Windows-1252. */
export async function inEncoding<T>(encoding: Encoding | undefined, read: (tried: TextForm) => Promise<T>): Promise<T> {
  try {
    return await read({ encoding });
  } catch (error) {
    if (!(error instanceof NotUtf8) || encoding !== undefined) throw error;
    return read({ encoding: 'windows-1252', isGuess: true }).catch((second) => {
      throw second instanceof NotWestern ? new NotUtf8(error.byte, second.message) : second;
    });
  }
}

function encodingOf(bytes: Buffer): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes.includes(0)) {
    throw new Unreadable(
      'contains NUL bytes: not UTF-8, or UTF-16 without a byte order mark; save as UTF-8, or set `encoding: utf-16le` of the feed',
    );
  }
  return 'utf-8';
}

/** The decoder writes U+FFFD for invalid bytes. A U+FFFD that the file itself contains has its own three bytes. */
function firstBadByte(bytes: Buffer): number {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  let offset = 0;
  for (const character of text) {
    if (character === '�' && !bytes.subarray(offset, offset + 3).equals(Buffer.from('�'))) return offset;
    offset += Buffer.byteLength(character);
  }
  return offset;
}
