// Converts an item of any source to canonical form: null and empty texts are absent, date-times have a zone, point types
// have their documented name, plates and documents no punctuation. An invalid value stays unchanged: validation reports it.
import { hash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { stableJsonWithoutNulls } from '../../core/text/stable-json.ts';
import type { FeedKind } from '../feed-kinds.ts';
import type { ErpItem } from '../source.ts';
import { DATA_FIELDS, type FieldTable, type FieldType, OPTION_FIELDS } from './fields.ts';
import { zonedMoment } from './moments.ts';
import { documentText, plateText, pointTypeName } from './value-forms.ts';

export const canonicalData = (kind: FeedKind, data: JsonObject, zone: string): JsonObject =>
  objectForm(DATA_FIELDS[kind], data, zone);

export const canonicalOptions = (options: JsonObject): JsonObject => objectForm(OPTION_FIELDS, options, 'UTC');

function objectForm(table: FieldTable, given: JsonObject, zone: string): JsonObject {
  const form = Object.entries(given)
    .filter(([, value]) => value !== null && value !== '' && value !== undefined)
    .map(([name, value]) => [name, fieldForm(table, name, value, zone)]);
  // Not by assignment: a field named __proto__ would become the prototype and supply the values of absent fields.
  return Object.fromEntries(form);
}

function fieldForm({ types, objects = {}, lists = {} }: FieldTable, name: string, value: Json, zone: string): Json {
  const type = ownValue(types, name);
  if (type !== undefined) return valueForm(type, value, zone);
  const object = ownValue(objects, name);
  if (object !== undefined && isJsonObject(value)) return objectForm(object, value, zone);
  const list = ownValue(lists, name);
  if (list === undefined || !Array.isArray(value)) return value;
  return value.map((each) => (isJsonObject(each) ? objectForm(list, each, zone) : each));
}

const ownValue = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

function valueForm(type: FieldType, value: Json, zone: string): Json {
  if (Array.isArray(value) && (type === 'plates' || type === 'documents')) {
    return value.map((each) => valueForm(type === 'plates' ? 'plate' : 'document', each, zone));
  }
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
