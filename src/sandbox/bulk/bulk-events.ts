// Events in bulk, so that the sandbox is never the bottleneck of a benchmark. Every vehicle has the same number of
// events each UTC day. An event depends only on the vehicle index, the day and its place in the day, so repeated reads
// agree.
import { type Answer, bytesAnswer } from '../http/answer.ts';
import type { EventQuery, Period } from '../routes/event-query.ts';
import { relatedObjects } from '../routes/event-records.ts';
import type { BulkEvents } from '../sandbox-options.ts';
import { DAY_MS, FOUNDING_DAY, SECOND_MS } from '../world/company-time.ts';
import { depotOf } from '../world/daily-routes.ts';
import type { World } from '../world/world.ts';
import { BULK_DURATION_S, bulkTemplate, type Template, writePatched } from './bulk-template.ts';

interface Vehicle {
  index: number;
  /** The related objects of the vehicle, padded to the same length for all vehicles. */
  related: Buffer;
}

interface DayPart {
  day: number;
  template: Template;
}

const LAST_SECOND = 86_399;
const CHUNK_BYTES = 256 * 1024;
const CLOSING_BRACKET = 0x5d;

export function bulkAnswer(world: World, bulk: BulkEvents, wanted: EventQuery): Answer {
  const known = wanted.vehicles.filter((index) => world.roster.life(index) !== undefined);
  const blocks = known.map((index) => relatedBytes(world, index, wanted.includes));
  const width = Math.max(0, ...blocks.map((block) => block.length));
  const parts = dayParts(world.now(), bulk, wanted, width);
  const vehicles = known.map((index, i) => ({ index, related: padded(blocks[i] as Buffer, width) }));
  const total = vehicles.length * lengthOf(parts);
  return bytesAnswer(chunksOf(vehicles, parts, total));
}

const lengthOf = (parts: readonly DayPart[]): number =>
  parts.reduce((sum, part) => sum + part.template.bytes.length, 0);

/** `[`, then the records in large chunks; the comma after the last record becomes `]`. */
function* chunksOf(vehicles: readonly Vehicle[], parts: readonly DayPart[], total: number): Generator<Uint8Array> {
  yield Buffer.from(total === 0 ? '[]' : '[');
  const longest = Math.max(0, ...parts.map((part) => part.template.bytes.length));
  let left = total;
  let chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, longest));
  let filled = 0;
  for (const { index, related } of vehicles) {
    for (const { day, template } of parts) {
      if (filled + template.bytes.length > chunk.length) {
        yield chunk.subarray(0, filled);
        chunk = Buffer.allocUnsafeSlow(chunk.length);
        filled = 0;
      }
      writePatched(chunk, filled, template, { index, day, related });
      filled += template.bytes.length;
      left -= template.bytes.length;
      if (left === 0) chunk[filled - 1] = CLOSING_BRACKET;
    }
  }
  yield chunk.subarray(0, filled);
}

const padded = (block: Buffer, width: number): Buffer => {
  const result = Buffer.alloc(width, ' ');
  result.set(block);
  return result;
};

/** The related objects as the first fields of a record, with the comma after them. */
function relatedBytes(world: World, index: number, includes: readonly string[]): Buffer {
  const depot = depotOf(world.seed, index);
  const fields = JSON.stringify(relatedObjects(world, { vehicleIndex: index, from: depot, to: depot }, includes));
  return Buffer.from(fields === '{}' ? '' : `${fields.slice(1, -1)},`);
}

/** The UTC days of the periods, each with the template of the seconds that are wanted and already visible. */
function dayParts(now: number, bulk: BulkEvents, wanted: EventQuery, width: number): DayPart[] {
  const templates = new Map<string, Template>();
  const parts: DayPart[] = [];
  const lastShown = now - BULK_DURATION_S * SECOND_MS;
  for (const { begin, end } of merged(wanted.periods)) {
    const to = Math.min(end, lastShown);
    for (let day = Math.max(FOUNDING_DAY, Math.floor(begin / DAY_MS)); day * DAY_MS <= to; day++) {
      const from = Math.max(0, Math.ceil((begin - day * DAY_MS) / SECOND_MS));
      const until = Math.min(LAST_SECOND, Math.floor((to - day * DAY_MS) / SECOND_MS));
      const key = `${from}-${until}`;
      const template = templates.get(key) ?? bulkTemplate(bulk.perVehiclePerDay, wanted, { from, until }, width);
      templates.set(key, template);
      if (template.bytes.length > 0) parts.push({ day, template });
    }
  }
  return parts;
}

/** Merges overlapping periods, so that no event is sent twice. */
function merged(periods: readonly Period[]): Period[] {
  const result: Period[] = [];
  for (const { begin, end } of [...periods].sort((a, b) => a.begin - b.begin)) {
    const last = result.at(-1);
    if (last !== undefined && begin <= last.end) last.end = Math.max(last.end, end);
    else if (begin <= end) result.push({ begin, end });
  }
  return result;
}
