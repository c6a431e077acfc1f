// Decodes a dropped file as it streams: UTF-8 with or without a byte order mark, UTF-16 with one. Any other encoding is an
// error at its first invalid byte; encodings are never guessed.
import { TextDecoder } from 'node:util';

export class UnreadableText extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableText';
  }
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/** Bytes of the longest character in UTF-8. */
const LONGEST_SEQUENCE = 4;

export async function* decodeText(chunks: AsyncIterable<Buffer>): AsyncIterable<string> {
  let carry: Buffer = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  let encoding: Encoding = 'utf-8';
  let passed = 0;
  for await (const chunk of chunks) {
    let bytes = Buffer.concat([carry, chunk]);
    if (decoder === undefined) {
      encoding = encodingOf(bytes);
      decoder = new TextDecoder(encoding, { fatal: true });
    }
    const end = encoding === 'utf-8' ? completeEnd(bytes) : bytes.length - (bytes.length % 2);
    carry = bytes.subarray(end);
    bytes = bytes.subarray(0, end);
    yield decoded(decoder, bytes, { encoding, passed });
    passed += bytes.length;
  }
  if (carry.length > 0) throw notText(encoding, passed);
}

/** Decodes a complete file. */
export async function decodeBuffer(bytes: Buffer): Promise<string> {
  async function* one() {
    yield bytes;
  }
  let text = '';
  for await (const part of decodeText(one())) text += part;
  return text;
}

function encodingOf(bytes: Buffer): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes.includes(0)) {
    throw new UnreadableText('contains NUL bytes: not UTF-8, or UTF-16 without a byte order mark; save as UTF-8');
  }
  return 'utf-8';
}

interface DecodingPlace {
  encoding: Encoding;
  /** Bytes decoded before. */
  passed: number;
}

function decoded(decoder: TextDecoder, bytes: Buffer, { encoding, passed }: DecodingPlace): string {
  try {
    return decoder.decode(bytes, { stream: true });
  } catch {
    throw notText(encoding, passed + (encoding === 'utf-8' ? firstBadByte(bytes) : 0));
  }
}

const notText = (encoding: Encoding, offset: number): UnreadableText =>
  new UnreadableText(
    encoding === 'utf-8' ? `not UTF-8 at byte ${offset + 1}; save as UTF-8` : 'not valid UTF-16; save as UTF-8',
  );

/** End of the last complete character. */
function completeEnd(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(LONGEST_SEQUENCE - 1, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
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
