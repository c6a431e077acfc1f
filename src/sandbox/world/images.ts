// Pictures and signatures. A hash holds the numbers that the image is drawn from and a checksum of them. So any image
// can be drawn again from its hash, and a hash that the sandbox never issued is detected.
import { crc32, deflateSync } from 'node:zlib';
import { hashKey, type Key, seededRandom } from '../made-up/seeded-random.ts';

const CELLS = 5;
const CELL_PIXELS = 6;
const SIDE = CELLS * CELL_PIXELS;

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
  return match[3] === checkOf(seed, a, b) ? pattern(a, b) : undefined;
}

function checkOf(seed: number, a: number, b: number): string {
  const [c, d] = hashKey([seed, 'image check', a, b]);
  return hex(c) + hex(d);
}

/** A mirrored pattern of squares in one colour on white. */
function pattern(a: number, b: number): Buffer {
  const random = seededRandom(a, b);
  const colour = [random.int(20, 200), random.int(20, 200), random.int(20, 200)];
  const filled = Array.from({ length: CELLS * Math.ceil(CELLS / 2) }, () => random.chance(0.5));
  const pixels = Buffer.alloc(SIDE * SIDE * 3, 255);
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      const column = Math.floor(x / CELL_PIXELS);
      const cell = Math.floor(y / CELL_PIXELS) * Math.ceil(CELLS / 2) + Math.min(column, CELLS - 1 - column);
      if (filled[cell]) pixels.set(colour, (y * SIDE + x) * 3);
    }
  }
  return encodePng(SIDE, SIDE, pixels);
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const TRUE_COLOUR = 2;

/** Eight bits a channel, RGB, no filter, no interlacing. */
function encodePng(width: number, height: number, pixels: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  header[9] = TRUE_COLOUR;
  const rows: Buffer[] = [];
  for (let y = 0; y < height; y++) {
    rows.push(Buffer.of(0), pixels.subarray(y * width * 3, (y + 1) * width * 3));
  }
  const data = deflateSync(Buffer.concat(rows));
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
