// The events that the tracker of a vehicle reports on a day: a trip for each leg between stops, and other events on the
// legs and at the stops. An event belongs to the day on which it begins and is shown once it has arrived.

import { partId } from '../made-up/identifiers.ts';
import type { Place } from '../made-up/places.ts';
import { type Random, seededRandom } from '../made-up/seeded-random.ts';
import { MINUTE_MS, SECOND_MS } from './company-time.ts';
import { EVENT_CATEGORIES, type EventCategory, TRIP } from './event-categories.ts';
import { arrivalLag, type RouteRun, type Stop } from './route-run.ts';

export interface TrackedEvent {
  id: number;
  category: number;
  vehicleIndex: number;
  beginAt: number;
  endAt: number;
  distanceM: number;
  from: Place;
  to: Place;
  visibleAt: number;
}

type EventDraft = Omit<TrackedEvent, 'id' | 'vehicleIndex' | 'visibleAt'>;

/** The limit keeps the ids of neighbouring days apart. */
const MOST_A_DAY = 128;

export function eventsOfRun(seed: number, index: number, day: number, run: RouteRun): TrackedEvent[] {
  const random = seededRandom(seed, 'events', index, day);
  const legs = legsOf(run.stops);
  if (legs.length === 0) return [];
  const drafts = [...legs];
  for (const category of EVENT_CATEGORIES) {
    if (category.id === TRIP) continue;
    const count = drawCount(category.perDay, random);
    for (let i = 0; i < count; i++) drafts.push(draftEvent(category, legs, run.stops, random));
  }
  return drafts.slice(0, MOST_A_DAY).map((draft, i) => ({
    ...draft,
    id: partId(index, day, i),
    vehicleIndex: index,
    visibleAt: draft.endAt + arrivalLag(random),
  }));
}

function legsOf(stops: readonly Stop[]): EventDraft[] {
  return stops.slice(1).map((stop, i) => {
    const before = stops[i] as Stop;
    return {
      category: TRIP,
      beginAt: before.leaveAt,
      endAt: stop.arriveAt,
      distanceM: stop.point.distanceM,
      from: before.point.place,
      to: stop.point.place,
    };
  });
}

/** The integer part is certain; the fraction is the chance of one more. */
const drawCount = (expected: number, random: Random): number =>
  Math.floor(expected) + (random.chance(expected % 1) ? 1 : 0);

function draftEvent(
  category: EventCategory,
  legs: readonly EventDraft[],
  stops: readonly Stop[],
  random: Random,
): EventDraft {
  if (category.where === 'shift') return shiftEvent(category, stops);
  if (category.where === 'stop') return stopEvent(category, random.pick(stops), random);
  return legEvent(category, random.pick(legs), random);
}

function legEvent(category: EventCategory, leg: EventDraft, random: Random): EventDraft {
  const lengthS = Math.max(1, Math.floor((leg.endAt - leg.beginAt) / SECOND_MS));
  const beginS = random.int(0, lengthS - 1);
  const durationS = Math.min(random.int(0, category.longestS), lengthS - beginS);
  const beginAt = leg.beginAt + beginS * SECOND_MS;
  return {
    ...leg,
    category: category.id,
    beginAt,
    endAt: beginAt + durationS * SECOND_MS,
    distanceM: Math.round((leg.distanceM * durationS) / lengthS),
  };
}

function stopEvent(category: EventCategory, stop: Stop, random: Random): EventDraft {
  const lengthS = Math.max(1, Math.floor((stop.leaveAt - stop.arriveAt) / SECOND_MS));
  const beginAt = stop.arriveAt + random.int(0, lengthS - 1) * SECOND_MS;
  const endAt = beginAt + random.int(0, category.longestS) * SECOND_MS;
  return {
    category: category.id,
    beginAt,
    endAt,
    distanceM: 0,
    from: stop.point.place,
    to: stop.point.place,
  };
}

function shiftEvent(category: EventCategory, stops: readonly Stop[]): EventDraft {
  const first = stops[0] as Stop;
  const last = stops.at(-1) as Stop;
  const isEnd = category.name === 'End of shift';
  const beginAt = isEnd ? last.leaveAt : first.arriveAt - MINUTE_MS;
  const endAt = category.longestS > 0 ? last.leaveAt : beginAt;
  const distanceM = category.longestS > 0 ? stops.reduce((sum, stop) => sum + stop.point.distanceM, 0) : 0;
  return { category: category.id, beginAt, endAt, distanceM, from: first.point.place, to: last.point.place };
}
