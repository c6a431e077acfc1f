// Events in bulk, so that the sandbox is never the bottleneck of a benchmark. Every vehicle has the same number of
// events each UTC day. An event depends only on the vehicle index, the day and its place in the day, so repeated reads
// agree.
import { type Answer, bytesAnswer } from '../http/answer.ts';
import { DAY_MS, dateText, FOUNDING_DAY, SECOND_MS } from '../world/company-time.ts';
import { depotOf } from '../world/daily-routes.ts';
import { EVENT_CATEGORIES } from '../world/event-categories.ts';
import type { World } from '../world/world.ts';
import type { EventQuery, Period } from './event-query.ts';
import { relatedObjects } from './event-records.ts';

/** An event of a day, with the texts that are the same on each day. */
interface BulkEvent {
  place: string;
  second: number;
  begin: string;
  end: string;
  distance: number;
}

interface BulkDay {
  day: number;
  events: readonly BulkEvent[];
}

const CHUNK_CHARACTERS = 256 * 1024;
const SECONDS = 86_400;
/** Duration of an event. An event is visible from its end on. */
const DURATION_S = 30;
const LEAST_DISTANCE = 10_000;
const DISTANCES = 80_000;
/** Days in ids are counted from 2018-01-01. */
const FIRST_DAY = 17_532;
/** An id has seven digits for the vehicle (the first is not zero), four for the day and five for the place in the day. */
const FIRST_VEHICLE = 1_000_000;

export function bulkAnswer(world: World, perDay: number, wanted: EventQuery): Answer {
  const days = daysOf(world.now(), eventsOfDay(perDay, wanted), wanted.periods);
  return bytesAnswer(chunksOf(world, days, wanted));
}

/** The JSON array in large chunks. */
function* chunksOf(world: World, days: readonly BulkDay[], wanted: EventQuery): Generator<Uint8Array> {
  let text = '[';
  let separator = '';
  for (const index of wanted.vehicles.filter((index) => world.roster.life(index) !== undefined)) {
    const related = relatedText(world, index, wanted.includes);
    for (const { day, events } of days) {
      const idStart = String(FIRST_VEHICLE + index) + String(day - FIRST_DAY).padStart(4, '0');
      const date = dateText(day);
      for (const { place, begin, end, distance } of events) {
        const dates = `"begin_date":"${date}${begin}","end_date":"${date}${end}"`;
        const ids = `"id":${idStart}${place},"event_category":${wanted.category}`;
        text += `${separator}{${related}${ids},${dates},"distance":${distance}}`;
        separator = ',';
      }
      if (text.length < CHUNK_CHARACTERS) continue;
      yield Buffer.from(text);
      text = '';
    }
  }
  yield Buffer.from(`${text}]`);
}

/** The related objects as the first fields of a record, with the comma after them. */
function relatedText(world: World, index: number, includes: readonly string[]): string {
  const depot = depotOf(world.seed, index);
  const fields = JSON.stringify(relatedObjects(world, { vehicleIndex: index, from: depot, to: depot }, includes));
  return fields === '{}' ? '' : `${fields.slice(1, -1)},`;
}

function eventsOfDay(perDay: number, { category, leastDistance }: EventQuery): BulkEvent[] {
  const events: BulkEvent[] = [];
  const first = EVENT_CATEGORIES.findIndex((one) => one.id === category);
  for (let place = first; place < perDay; place += EVENT_CATEGORIES.length) {
    const second = Math.floor((place * SECONDS) / perDay);
    const distance = LEAST_DISTANCE + ((place * 7_919) % DISTANCES);
    if (distance < leastDistance) continue;
    const end = timeText(Math.min(second + DURATION_S, SECONDS - 1));
    events.push({ place: String(place).padStart(5, '0'), second, begin: timeText(second), end, distance });
  }
  return events;
}

const timeText = (second: number): string => `${new Date(second * 1_000).toISOString().slice(10, 19)}Z`;

/** The UTC days of the periods, each with the events that are wanted and already visible. */
function daysOf(now: number, events: readonly BulkEvent[], periods: readonly Period[]): BulkDay[] {
  const days: BulkDay[] = [];
  for (const { begin, end } of merged(periods)) {
    const to = Math.min(end, now - DURATION_S * SECOND_MS);
    for (let day = Math.max(FOUNDING_DAY, Math.floor(begin / DAY_MS)); day * DAY_MS <= to; day++) {
      const at = (event: BulkEvent): number => day * DAY_MS + event.second * SECOND_MS;
      days.push({ day, events: events.filter((event) => at(event) >= begin && at(event) <= to) });
    }
  }
  return days;
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
