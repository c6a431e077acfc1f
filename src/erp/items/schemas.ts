// Validates an item before it is sent: its fields and the rules between them. All issues are reported at once: fields in
// the order of their table, then unknown fields, then broken rules.
import { z } from 'zod';
import { type BrokenRule, type FieldRule, isGiven, withRules } from '../../core/field-rules.ts';
import { isJsonObject } from '../../core/json.ts';
import { issueTexts, parseWithMessages } from '../../core/text/zod-words.ts';
import type { FeedKind } from '../feed-kinds.ts';
import type { ErpItem } from '../source.ts';
import { LONGEST_KEY, listOf, objectOf, TOO_LONG } from './field-schemas.ts';
import {
  AGENT_FIELDS,
  CATEGORY_FIELDS,
  ENTITY_FIELDS,
  ITEM_FIELDS,
  ITINERARY_FIELDS,
  OPTION_FIELDS,
  PLAN_FIELDS,
  POINT_FIELDS,
  POINT_OF_INTEREST_FIELDS,
  WINDOW_FIELDS,
} from './fields.ts';
import { momentMs } from './moments.ts';

/** A period does not end before it begins. Not checked if either is no date-time. */
const inOrder =
  (from: string, to: string): FieldRule =>
  (given) => {
    const [fromMs, toMs] = [momentMs(given[from]), momentMs(given[to])];
    if (fromMs === undefined || toMs === undefined || fromMs <= toMs) return [];
    return [{ path: [to], message: `is before ${from}` }];
  };

const onlyOneOf =
  (one: string, other: string): FieldRule =>
  (given) =>
    isGiven(given[one]) && isGiven(given[other])
      ? [{ path: [other], message: `give only one of ${one} and ${other}` }]
      : [];

const hasPlace: FieldRule = ({ address, latitude, longitude }) => {
  if (isGiven(latitude) !== isGiven(longitude)) {
    return [{ path: [isGiven(latitude) ? 'longitude' : 'latitude'], message: 'give both coordinates or none' }];
  }
  return isGiven(address) || isGiven(latitude)
    ? []
    : [{ path: ['address'], message: 'give an address or coordinates' }];
};

/** The text becomes part of an index. */
const indexable =
  (name: string): FieldRule =>
  ({ [name]: text }) =>
    typeof text === 'string' && text.length > LONGEST_KEY ? [{ path: [name], message: TOO_LONG }] : [];

const pointsOf = (plan: Record<string, unknown>): unknown[] =>
  Array.isArray(plan.route_points) ? plan.route_points : [];

/** The ERP matches stop outcomes by the point's code, so a code must be unique within a plan. */
const uniquePointCodes: FieldRule = (plan) => {
  const first = new Map<string, number>();
  const broken: BrokenRule[] = [];
  for (const [i, point] of pointsOf(plan).entries()) {
    const code = isJsonObject(point) ? point.external_code : undefined;
    if (typeof code !== 'string') continue;
    const before = first.get(code);
    if (before === undefined) first.set(code, i);
    else
      broken.push({
        path: ['route_points', i, 'external_code'],
        message: `is already used by route_points[${before}]`,
      });
  }
  return broken;
};

const windowsInPlan: FieldRule = (plan) =>
  pointsOf(plan).flatMap((point, i) => {
    const window = isJsonObject(point) ? point.time_window : undefined;
    if (!isJsonObject(window)) return [];
    const [fromMs, toMs] = [momentMs(plan.date_time_start), momentMs(plan.date_time_end)];
    return WINDOW_FIELDS.required.flatMap((name) => {
      const ms = momentMs(window[name]);
      if (ms === undefined || fromMs === undefined || toMs === undefined) return [];
      if (ms >= fromMs && ms <= toMs) return [];
      return [{ path: ['route_points', i, 'time_window', name], message: 'is outside the period of the plan' }];
    });
  });

/** The service documents no form for a time window. One with `start` or `end` is checked; any other is sent unchanged. */
const isOtherWindow = (window: unknown): boolean => !isJsonObject(window) || !('start' in window || 'end' in window);

const point = withRules(
  objectOf(POINT_FIELDS, {
    time_window: z
      .union([z.custom(isOtherWindow), withRules(objectOf(WINDOW_FIELDS), inOrder('start', 'end'))])
      .optional(),
    route_point_items: listOf(objectOf(ITEM_FIELDS)).nullish(),
  }),
  hasPlace,
  indexable('external_code'),
);

const NO_POINT = 'at least one is required';

const routePlan = withRules(
  objectOf(PLAN_FIELDS, {
    entity: listOf(objectOf(ENTITY_FIELDS)).nullish(),
    route_points: listOf(point, NO_POINT).min(1, NO_POINT),
  }),
  inOrder('date_time_start', 'date_time_end'),
  onlyOneOf('vehicle_plates', 'document_numbers'),
  windowsInPlan,
  uniquePointCodes,
);

const pointOfInterest = withRules(
  objectOf(POINT_OF_INTEREST_FIELDS, {
    point_of_interest_category: objectOf(CATEGORY_FIELDS, {}, 'is not an object with an id').nullish(),
  }),
  indexable('title'),
  onlyOneOf('point_of_interest_category', 'point_of_interest_category_id'),
);

const itinerary = withRules(
  objectOf(ITINERARY_FIELDS),
  inOrder('date_time_start_estimated', 'date_time_end_estimated'),
);

const SCHEMAS: Readonly<Record<FeedKind, z.ZodType>> = {
  route_plans: routePlan,
  points_of_interest: pointOfInterest,
  agents: objectOf(AGENT_FIELDS),
  itineraries: itinerary,
};

const OPTIONS = z.strictObject({ options: objectOf(OPTION_FIELDS).optional() });

/** The reasons why the item cannot be sent; empty if it can. */
export function validateItem(kind: FeedKind, { data, options }: Pick<ErpItem, 'data' | 'options'>): string[] {
  return [...reasonsAgainst(SCHEMAS[kind], data), ...reasonsAgainst(OPTIONS, { options })];
}

function reasonsAgainst(schema: z.ZodType, given: unknown): string[] {
  const result = parseWithMessages(schema, given);
  return result.success ? [] : issueTexts(result.error.issues, schema, given, 'item');
}
