// Converts an item of any source to canonical form: null and empty texts are absent, date-times have a zone, point types
// have their documented name, plates and documents no punctuation. An invalid value stays unchanged: validation reports it.
import { hash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../core/glossary.ts';
import { stableJsonWithoutNulls } from '../../core/text/stable-json.ts';
import type { FeedKind } from '../feed-kinds.ts';
import type { ErpItem } from '../source.ts';
import {
  AGENT_FIELDS,
  CATEGORY_FIELDS,
  ENTITY_FIELDS,
  type FieldTable,
  type FieldType,
  ITEM_FIELDS,
  ITINERARY_FIELDS,
  OPTION_FIELDS,
  PLAN_FIELDS,
  POINT_FIELDS,
  POINT_OF_INTEREST_FIELDS,
  WINDOW_FIELDS,
} from './fields.ts';
import { documentText, plateText } from './identifiers.ts';
import { zonedMoment } from './moments.ts';
import { pointTypeName } from './point-types.ts';

type Form = (value: Json) => Json;

export function canonicalData(kind: FeedKind, data: JsonObject, zone: string): JsonObject {
  return formOf(kind, zone)(data);
}

export const canonicalOptions = (options: JsonObject): JsonObject => objectForm(OPTION_FIELDS, 'UTC')(options);

function formOf(kind: FeedKind, zone: string): (data: JsonObject) => JsonObject {
  switch (kind) {
    case 'points_of_interest':
      return objectForm(POINT_OF_INTEREST_FIELDS, zone, {
        point_of_interest_category: nested(objectForm(CATEGORY_FIELDS, zone)),
      });
    case 'agents':
      return objectForm(AGENT_FIELDS, zone);
    case 'itineraries':
      return objectForm(ITINERARY_FIELDS, zone);
    case 'route_plans': {
      const window = nested(objectForm(WINDOW_FIELDS, zone));
      const items = listForm(nested(objectForm(ITEM_FIELDS, zone)));
      const point = objectForm(POINT_FIELDS, zone, { time_window: window, route_point_items: items });
      const entity = listForm(nested(objectForm(ENTITY_FIELDS, zone)));
      return objectForm(PLAN_FIELDS, zone, { entity, route_points: listForm(nested(point)) });
    }
  }
}

function objectForm({ types }: FieldTable, zone: string, parts: Record<string, Form> = {}) {
  return (given: JsonObject): JsonObject => {
    const form: [name: string, value: Json][] = [];
    for (const [name, value] of Object.entries(given)) {
      if (value === null || value === '' || value === undefined) continue;
      const type = Object.hasOwn(types, name) ? types[name] : undefined;
      const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
      form.push([name, type === undefined ? (part?.(value) ?? value) : valueForm(type, value, zone)]);
    }
    // Not by assignment: a field named __proto__ would become the prototype and supply the values of absent fields.
    return Object.fromEntries(form);
  };
}

const nested =
  (form: (value: JsonObject) => JsonObject): Form =>
  (value) =>
    isJsonObject(value) ? form(value) : value;

const listForm =
  (form: Form): Form =>
  (value) =>
    Array.isArray(value) ? value.map(form) : value;

function valueForm(type: FieldType, value: Json, zone: string): Json {
  if (type === 'plates') return listForm((plate) => valueForm('plate', plate, zone))(value);
  if (type === 'documents') return listForm((document) => valueForm('document', document, zone))(value);
  if (type === 'document' && typeof value === 'number') return documentText(value);
  if (type === 'text' && typeof value === 'number') return String(value);
  if (typeof value !== 'string') return value;
  switch (type) {
    case 'moment':
      return zonedMoment(value, zone) ?? value;
    case 'point_type':
      return pointTypeName(value);
    case 'plate':
      return plateText(value);
    case 'document':
      return documentText(value);
    default:
      return value;
  }
}

/**
 * SHA-256 of the content to be sent, in hexadecimal. The order of keys does not matter, and an absent field equals a null
 * one. The origin of the item is not part of it.
 */
export const contentHash = ({ data, options = {} }: Pick<ErpItem, 'data' | 'options'>): string =>
  hash('sha256', stableJsonWithoutNulls({ data, options }));
