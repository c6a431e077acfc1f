// The records of one category on one day as bytes of equal length. Holes mark the bytes that differ between vehicles and
// days: digits of the id, the two dates, the related objects. Each use copies the bytes and fills the holes, which is
// faster than writing JSON again. Padding is white space between fields, which JSON allows.

import type { EventQuery } from '../routes/event-query.ts';
import { dateText } from '../world/company-time.ts';
import { EVENT_CATEGORIES } from '../world/event-categories.ts';

export interface Template {
  bytes: Buffer;
  /** Length of a record with the comma after it. */
  size: number;
  holes: Holes;
}

/** The offset of each hole in a record. */
interface Holes {
  related: number;
  vehicle: number;
  beginDate: number;
  endDate: number;
}

/** Duration of an event. An event is visible from its end on. */
export const BULK_DURATION_S = 30;
const SECONDS = 86_400;
const LEAST_DISTANCE = 10_000;
const DISTANCES = 80_000;
const DATE = 'YYYY-MM-DD';
/** Days in ids are counted from 2018-01-01. */
const FIRST_DAY = 17_532;
/** An id has seven digits for the vehicle (the first is not zero), four for the day and five for the place in the day. */
const FIRST_VEHICLE = 1_000_000;
const VEHICLE_AND_DAY = 'VVVVVVVDDDD';

const head = (width: number): string => `{${' '.repeat(width)}"id":`;
const beforeDate = (category: number): string => `,"event_category":${category},"begin_date":"`;
const BETWEEN_DATES = '","end_date":"';

export function bulkTemplate(
  perDay: number,
  { category, leastDistance }: Pick<EventQuery, 'category' | 'leastDistance'>,
  seconds: { from: number; until: number },
  width: number,
): Template {
  const records: string[] = [];
  const first = EVENT_CATEGORIES.findIndex((one) => one.id === category);
  for (let place = first; place < perDay; place += EVENT_CATEGORIES.length) {
    const second = Math.floor((place * SECONDS) / perDay);
    const distance = LEAST_DISTANCE + ((place * 7_919) % DISTANCES);
    if (second < seconds.from || second > seconds.until || distance < leastDistance) continue;
    const id = `${VEHICLE_AND_DAY}${String(place).padStart(5, '0')}`;
    const endSecond = Math.min(second + BULK_DURATION_S, SECONDS - 1);
    const dates = `${DATE}${timeText(second)}${BETWEEN_DATES}${DATE}${timeText(endSecond)}`;
    records.push(`${head(width)}${id}${beforeDate(category)}${dates}","distance":${distance}},`);
  }
  const bytes = Buffer.from(records.join(''));
  return { bytes, size: records[0]?.length ?? 0, holes: holesOf(category, width) };
}

function holesOf(category: number, width: number): Holes {
  const vehicle = head(width).length;
  const beginDate = vehicle + VEHICLE_AND_DAY.length + 5 + beforeDate(category).length;
  const endDate = beginDate + DATE.length + timeText(0).length + BETWEEN_DATES.length;
  return { related: 1, vehicle, beginDate, endDate };
}

const timeText = (second: number): string => new Date(second * 1_000).toISOString().slice(10, 19).concat('Z');

/** Copies the template into `target` at `start` and fills the holes for one vehicle and day. */
export function writePatched(
  target: Buffer,
  start: number,
  { bytes, size, holes }: Template,
  { index, day, related }: { index: number; day: number; related: Buffer },
): void {
  target.set(bytes, start);
  const digits = Buffer.from(String(FIRST_VEHICLE + index) + String(day - FIRST_DAY).padStart(4, '0'));
  const date = Buffer.from(dateText(day));
  for (let at = start; at < start + bytes.length; at += size) {
    target.set(related, at + holes.related);
    fill(target, at + holes.vehicle, digits);
    fill(target, at + holes.beginDate, date);
    fill(target, at + holes.endDate, date);
  }
}

/** For a few bytes a loop is faster than a native copy. */
function fill(target: Buffer, at: number, source: Buffer): void {
  for (let i = 0; i < source.length; i++) target[at + i] = source[i] as number;
}
