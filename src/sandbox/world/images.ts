// Pictures and signatures. A hash holds the numbers that the image is drawn from and a checksum of them. So any image
// can be drawn again from its hash, and a hash that the sandbox never issued is detected.
import { crc32, deflateSync } from 'node:zlib';
import { hashKey, type Key, seededRandom } from '../made-up/seeded-random.ts';

const SIDE = 30;
const TRUE_COLOUR = 2;
const NO_FILTER = 0;

const hex = (bits: number): string => bits.toString(16).padStart(8, '0');

/** The name of an image: 32 hexadecimal digits. */
export function imageHash(seed: number, ...key: Key): string {
  const [a, b] = hashKey([seed, 'image', ...key]);
  return hex(a) + hex(b) + checkOf(seed, a, b);
}

/** The PNG of a hash, with or without its file extension; undefined if the sandbox never issued the hash. */
export function drawImage(seed: number, name: string): Buffer | undefined {
  const match = /^([0-9a-f]{8})([0-9a-f]{8})([0-9a-f]{16})(\.png)?$/.exec(name);
  if (match === null) return undefined;
  const a = Number.parseInt(match[1] as string, 16);
  const b = Number.parseInt(match[2] as string, 16);
  return match[3] === checkOf(seed, a, b) ? colouredSquare(a, b) : undefined;
}

function checkOf(seed: number, a: number, b: number): string {
  const [c, d] = hashKey([seed, 'image check', a, b]);
  return hex(c) + hex(d);
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A square in one colour: eight bits a channel, RGB, no filter, no interlacing. */
function colouredSquare(a: number, b: number): Buffer {
  const random = seededRandom(a, b);
  const colour = Buffer.of(random.int(20, 200), random.int(20, 200), random.int(20, 200));
  const header = Buffer.of(0, 0, 0, SIDE, 0, 0, 0, SIDE, 8, TRUE_COLOUR, 0, 0, 0);
  const row = Buffer.concat([Buffer.of(NO_FILTER), Buffer.alloc(SIDE * 3, colour)]);
  const data = deflateSync(Buffer.concat(Array<Buffer>(SIDE).fill(row)));
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
