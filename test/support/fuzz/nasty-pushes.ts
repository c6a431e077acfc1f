// Items of the ERP with one dangerous text in every field that takes a text, by the tables of fields themselves:
// the item as dropped, and the request that the service has to receive.
import {
  AGENT_FIELDS,
  type FieldTable,
  ITEM_FIELDS,
  ITINERARY_FIELDS,
  OPTION_FIELDS,
  PLAN_FIELDS,
  POINT_FIELDS,
  POINT_OF_INTEREST_FIELDS,
} from '../../../src/erp/items/fields.ts';
import { cpfOf } from '../../../src/sandbox/made-up/cpf.ts';
import { agent, itinerary, plan, pointOfInterest } from '../push/push-samples.ts';
import { NASTY_TEXTS } from './fuzzed-records.ts';

/** A text of blanks counts as missing, and is rejected. */
export const PUSHED_TEXTS = NASTY_TEXTS.filter((text) => text.trim() !== '');

type Item = Record<string, unknown>;

export interface NastyPush {
  job: string;
  kind: 'route_plans' | 'points_of_interest' | 'agents' | 'itineraries';
  /** The n-th item; `code` is its code in the ERP. */
  item(text: string, n: number, code?: string): Item;
  /** Whether a request or a record of the service shows the n-th item. */
  shows(record: Item, text: string, n: number): boolean;
}

const texts = ({ types }: FieldTable, text: string): Item =>
  Object.fromEntries(
    Object.entries(types)
      .filter(([, type]) => type === 'text' || type === 'address')
      .map(([name]) => [name, text]),
  );

/** The key of an item ends with a number, and has no blanks around it. */
export const codeOf = (text: string, n: number): string => `${text} ${n}`.trim();
/** Of nobody in the sandbox. */
const cpf = (n: number): string => cpfOf(7, 5_000 + n);

export const NASTY_PUSHES: readonly NastyPush[] = [
  {
    job: 'push-route-plans',
    kind: 'route_plans',
    item: (text, n, code = codeOf(text, n)) =>
      plan(code, {
        ...texts(PLAN_FIELDS, text),
        external_code: code,
        route_points: [
          {
            ...texts(POINT_FIELDS, text),
            latitude: -23.5,
            longitude: -46.6,
            route_point_items: [texts(ITEM_FIELDS, text)],
          },
        ],
        options: { optimize: false, geocoding: false, ...texts(OPTION_FIELDS, text) },
      }),
    shows: ({ external_code }, text, n) => external_code === codeOf(text, n),
  },
  {
    job: 'push-points-of-interest',
    kind: 'points_of_interest',
    item: (text, n, code = codeOf(text, n)) =>
      pointOfInterest(code, {
        ...texts(POINT_OF_INTEREST_FIELDS, text),
        title: code,
        external_code: code,
      }),
    shows: ({ title }, text, n) => title === codeOf(text, n),
  },
  {
    job: 'push-agents',
    kind: 'agents',
    item: (text, n, code = codeOf(text, n)) =>
      agent(cpf(n), {
        ...texts(AGENT_FIELDS, text),
        company_registry: code,
        external_code: code,
      }),
    shows: (record, _text, n) => record.cpf === cpf(n),
  },
  {
    job: 'push-itineraries',
    kind: 'itineraries',
    item: (text, n, code = codeOf(text, n)) => itinerary(code, { ...texts(ITINERARY_FIELDS, text), external_id: code }),
    shows: ({ external_id }, text, n) => external_id === codeOf(text, n),
  },
];

/** Every text in a value, by its path. */
export function textsIn(value: unknown, path = ''): [path: string, text: string][] {
  if (typeof value === 'string') return [[path.slice(1), value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => textsIn(inner, `${path}.${name}`));
}
