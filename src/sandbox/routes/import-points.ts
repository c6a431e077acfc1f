// Turns the points of an imported plan into drafts: geocodes addresses (always to the same place), puts the points into
// driving order, and reports each invalid point with its line and the reason.
import { isJsonObject } from '../../core/json.ts';
import { metresBetween, type Place, placeFor, roundCoordinate } from '../made-up/places.ts';
import { SECOND_MS } from '../world/company-time.ts';
import { isTerminus, POINT_TYPES, type PointDraft, type PointType, travelSeconds } from '../world/route-draft.ts';

export interface WrongLine {
  /** Position in the given list, from 1. */
  line: number;
  name: string | null;
  message: string;
}

export interface ImportPoint {
  line: number;
  given: Record<string, unknown>;
  type: PointType;
  place: Place;
}

const DEFAULT_DELIVERY_S = 600;
const TYPE_NAMES = Object.keys(POINT_TYPES).join(', ');

export function parsePoints(given: readonly unknown[], seed: number): { points: ImportPoint[]; wrong: WrongLine[] } {
  const points: ImportPoint[] = [];
  const wrong: WrongLine[] = [];
  given.forEach((one, i) => {
    const line = i + 1;
    const fields = isJsonObject(one) ? one : {};
    const name = typeof fields.name === 'string' && fields.name.trim() !== '' ? fields.name : null;
    const type = typeOf(fields.type);
    const place = placeOf(fields, seed);
    if (name === null) wrong.push({ line, name, message: 'name: is required' });
    else if (type === undefined) wrong.push({ line, name, message: `type: must be one of ${TYPE_NAMES}` });
    else if (typeof place === 'string') wrong.push({ line, name, message: place });
    else points.push({ line, given: fields, type, place });
  });
  return { points, wrong };
}

/** Accepts a code or a name: the API document does not say which. A point without a type is a delivery. */
function typeOf(given: unknown): PointType | undefined {
  if (given === undefined || given === null) return 'PE';
  return Object.entries(POINT_TYPES).find((names) => names.some((name) => name === given))?.[1];
}

/** The place, or the reason why there is none. */
function placeOf(fields: Record<string, unknown>, seed: number): Place | string {
  const { latitude, longitude } = fields;
  const address = addressText(fields.address);
  const hasCoordinates = latitude !== undefined && latitude !== null && longitude !== undefined && longitude !== null;
  if (!hasCoordinates && address === '') return 'address or coordinates: one is required';
  if (!hasCoordinates) return { ...placeFor(seed, 'geocode', address), address };
  if (!isWithin(90, latitude)) return 'latitude: out of range';
  if (!isWithin(180, longitude)) return 'longitude: out of range';
  return {
    latitude: roundCoordinate(latitude),
    longitude: roundCoordinate(longitude),
    address: address === '' ? placeFor(seed, 'reverse', `${latitude},${longitude}`).address : address,
  };
}

const isWithin = (limit: number, value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= limit;

/** A text, as in the examples of the API document, or an object whose values are joined. */
function addressText(given: unknown): string {
  if (typeof given === 'string') return given.trim();
  return isJsonObject(given)
    ? Object.values(given)
        .filter((part) => part !== null && part !== '')
        .join(', ')
    : '';
}

/** The driving order: as given, or optimised: start, then always the nearest point, then arrival. */
export function inDrivingOrder(points: readonly ImportPoint[], optimize: boolean): ImportPoint[] {
  if (!optimize) {
    const orderOf = (point: ImportPoint): number =>
      typeof point.given.order === 'number' ? point.given.order : point.line;
    return [...points].sort((a, b) => orderOf(a) - orderOf(b) || a.line - b.line);
  }
  const starts = points.filter((point) => point.type === 'PA');
  const ends = points.filter((point) => point.type === 'CH');
  return [
    ...starts,
    ...nearestNext(
      points.filter((point) => !isTerminus(point.type)),
      starts.at(-1),
    ),
    ...ends,
  ];
}

function nearestNext(points: readonly ImportPoint[], start: ImportPoint | undefined): ImportPoint[] {
  const left = [...points];
  const ordered: ImportPoint[] = [];
  for (let from = start ?? left[0]; left.length > 0; ) {
    const here = (from as ImportPoint).place;
    const nearest = left.reduce((best, one) =>
      metresBetween(here, one.place) < metresBetween(here, best.place) ? one : best,
    );
    left.splice(left.indexOf(nearest), 1);
    ordered.push(nearest);
    from = nearest;
  }
  return ordered;
}

export function draftPoints(
  ordered: readonly ImportPoint[],
  startAt: number,
  idOf: (line: number) => number,
): PointDraft[] {
  let at = startAt;
  let before = ordered[0]?.place;
  return ordered.map((point, i) => {
    const { given } = point;
    const distanceM = i === 0 || before === undefined ? 0 : Math.round(metresBetween(before, point.place) * 1.35);
    at += i === 0 ? 0 : travelSeconds(distanceM) * SECOND_MS;
    const durationS = typeof given.delivery_time === 'number' ? Math.round(given.delivery_time) : DEFAULT_DELIVERY_S;
    const scheduledAt = at;
    at += durationS * SECOND_MS;
    before = point.place;
    const items = Array.isArray(given.route_point_items) ? given.route_point_items : [];
    return {
      id: idOf(point.line),
      name: given.name as string,
      type: point.type,
      order: typeof given.order === 'number' ? given.order : point.line,
      optimizedOrder: i + 1,
      place: point.place,
      scheduledAt,
      durationS,
      distanceM,
      externalCode: typeof given.external_code === 'string' ? given.external_code : '',
      capacity: capacityOf(items),
      timeWindow: given.time_window ?? null,
      disablePicture: typeof given.disable_picture === 'boolean' ? given.disable_picture : null,
      items,
    };
  });
}

function capacityOf(items: readonly unknown[]): number | null {
  const needs = items.map((item) => (isJsonObject(item) && typeof item.capacity === 'number' ? item.capacity : 0));
  return needs.length === 0 ? null : needs.reduce((sum, need) => sum + need, 0);
}
