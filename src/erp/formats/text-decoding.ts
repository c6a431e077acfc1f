// Decodes a dropped file as it streams: UTF-8 with or without a byte order mark, UTF-16 with one. Any other encoding is an
// error at its first invalid byte; encodings are never guessed.
import { TextDecoder } from 'node:util';

/** The content of a file or an answer cannot be read; the message is the reason, without the content. */
export class Unreadable extends Error {}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

export async function* decodeText(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncIterable<string> {
  /** Begin with the bytes of a character that the last chunk cut. */
  let bytes: Buffer = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  let passed = 0;
  const decode = (chunk?: Buffer): string => {
    try {
      return decoder?.decode(chunk, { stream: chunk !== undefined }) ?? '';
    } catch {
      throw new Unreadable(
        decoder?.encoding === 'utf-8'
          ? `not UTF-8 at byte ${passed + firstBadByte(bytes) + 1}; save as UTF-8`
          : 'not valid UTF-16; save as UTF-8',
      );
    }
  };
  for await (const chunk of chunks) {
    bytes = Buffer.concat([bytes, chunk]);
    decoder ??= new TextDecoder(encodingOf(bytes), { fatal: true, ignoreBOM: true });
    const text = decode(chunk);
    const size = decoder.encoding === 'utf-8' ? Buffer.byteLength(text) : 2 * text.length;
    yield passed === 0 ? text.replace(/^\ufeff/, '') : text;
    bytes = bytes.subarray(size);
    passed += size;
  }
  yield decode();
}

function encodingOf(bytes: Buffer): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes.includes(0)) {
    throw new Unreadable('contains NUL bytes: not UTF-8, or UTF-16 without a byte order mark; save as UTF-8');
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
