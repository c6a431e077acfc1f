// POST /import/route_plan: hands a plan over for execution. Not repeatable: a plan that is sent twice is there
// twice, and no call changes it.
import { z } from 'zod';
import type { Json } from '../../core/glossary.ts';
import { documentOf, idOf, isObject } from '../answer.ts';
import { writeEndpoint } from '../endpoint.ts';
import { POINT_TYPE_WORDS } from '../readings.ts';
import {
  bodyMoment,
  latitude,
  longitude,
  onlyOneRule,
  periodRule,
  type Rule,
  withRules,
  word,
} from '../request-fields.ts';
import type { WireAnswer } from '../transport.ts';
import { TransportFault } from '../transport-fault.ts';

/** Where a point is: by address, or by both coordinates. */
const placeRule: Rule = ({ address, latitude, longitude }) => {
  if ((latitude === undefined) !== (longitude === undefined)) {
    return {
      path: [latitude === undefined ? 'latitude' : 'longitude'],
      message: 'give both coordinates or none',
    };
  }
  if (address !== undefined || latitude !== undefined) return undefined;
  return { path: ['address'], message: 'give an address or coordinates' };
};

const item = z.strictObject({
  /** What load checking compares. */
  external_code: word,
  value: z.number().optional(),
  description: z.string().optional(),
  quantity: z.number().optional(),
  capacity: z.int().optional(),
});

const point = withRules(
  z.strictObject({
    name: word,
    /** Ignored where the plan is optimised. */
    order: z.int().optional(),
    info: z.string().optional(),
    /** A text in the shown calls; another form is not documented, and sent as given. */
    address: z.union([word, z.record(z.string(), z.json())]).optional(),
    type: z.enum(POINT_TYPE_WORDS as [string, ...string[]]).optional(),
    latitude: latitude.optional(),
    longitude: longitude.optional(),
    external_code: word.optional(),
    axles: z.int().nonnegative().optional(),
    /** Seconds. */
    delivery_time: z.int().nonnegative().optional(),
    /** Its form is not documented: sent as given. */
    time_window: z.json().optional(),
    route_point_items: z.array(item).optional(),
    disable_signature_check: z.boolean().optional(),
    disable_picture: z.boolean().optional(),
  }),
  placeRule,
);

const entity = z.strictObject({ document_number: word, vehicle_plate: word, helper: word.optional() });

const plan = withRules(
  z.strictObject({
    date_time_start: bodyMoment,
    date_time_end: bodyMoment,
    external_code: word,
    route_points: z.array(point).min(1),
    vehicle_plate: word.optional(),
    document_number: word.optional(),
    vehicle_plates: z.array(word).optional(),
    document_numbers: z.array(word).optional(),
    entity: z.array(entity).optional(),
  }),
  periodRule('date_time_start', 'date_time_end'),
  onlyOneRule('vehicle_plates', 'document_numbers'),
);

export interface ImportedPlan {
  /** How many points were routed; undefined where the answer does not tell. */
  routePoints: number | undefined;
  wrongLines: unknown[];
  wrongRoutePlans: unknown[];
  unassignedPoints: unknown[];
  /** Undefined where the answer names none: read back to learn it. */
  id: number | undefined;
  raw: Json;
}

export const importRoutePlan = writeEndpoint({
  name: 'import-route-plan',
  method: 'POST',
  path: '/import/route_plan',
  request: z.strictObject({
    optimize: z.boolean().default(true),
    geocoding: z.boolean().default(true),
    source: word.default('G'),
    has_time_window: z.boolean().default(false),
    is_async: z.boolean().default(false),
    data: plan,
  }),
  read: readImported,
});

function readImported(answer: WireAnswer): ImportedPlan {
  const raw = documentOf(answer);
  if (!isObject(raw)) throw new TransportFault('bad_answer', 'no object');
  const told = isObject(raw.data) ? raw.data : raw;
  return {
    routePoints: countOf(told.route_points),
    wrongLines: listOf(told.wrong_lines),
    wrongRoutePlans: listOf(told.wrong_route_plans),
    unassignedPoints: listOf(told.unassigned_points),
    id: idOf(raw),
    raw: raw as Json,
  };
}

function countOf(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length;
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) ? count : undefined;
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
