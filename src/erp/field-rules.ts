// Holds the fields of an object to their table: known names, right types, right ranges. A reason names path and
// rule, never the value, which may be a person's.
import { POINT_OF_INTEREST_CATEGORIES } from '../core/code-lists.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/glossary.ts';
import { didYouMean } from '../core/near-word.ts';
import { isCpf } from '../core/redaction.ts';
import { isStorable, isStorableJson } from '../core/storable-text.ts';
import type { Fields, FieldType } from './fields.ts';
import { PLATE } from './identifiers.ts';
import { FIRST_YEAR, LAST_YEAR, momentMs } from './moments.ts';
import { POINT_TYPE_NAMES } from './point-types.ts';

/** What is wrong with one value, or undefined where nothing is. */
type Rule = (value: Json) => string | undefined;

export const UNSTORABLE = 'holds a NUL or half a character, which no database keeps';

const text: Rule = (value) => {
  if (typeof value !== 'string' || value.trim() === '') return 'is not a text';
  return isStorable(value) ? undefined : UNSTORABLE;
};

const storable: Rule = (value) => (isStorableJson(JSON.stringify(value)) ? undefined : UNSTORABLE);

const rule =
  (holds: (value: Json) => boolean, otherwise: string): Rule =>
  (value) =>
    holds(value) ? undefined : otherwise;

const within = (bound: number): Rule => {
  return (value) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return 'is not a number';
    return Math.abs(value) <= bound ? undefined : `outside -${bound}..${bound}`;
  };
};

const isCount = (value: Json): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const plate = (value: Json): boolean => typeof value === 'string' && PLATE.test(value);
const document = (value: Json): boolean => typeof value === 'string' && isCpf(value);
const listOf = (holds: (value: Json) => boolean) => (value: Json) =>
  Array.isArray(value) && value.every(holds);
const isCategory = (value: Json): boolean => POINT_OF_INTEREST_CATEGORIES.some(({ id }) => id === value);

const RULES: Readonly<Record<FieldType, Rule>> = {
  text,
  number: rule((value) => typeof value === 'number' && Number.isFinite(value), 'is not a number'),
  integer: rule((value) => Number.isSafeInteger(value), 'is not a whole number'),
  count: rule(isCount, 'is not a whole number from 0'),
  boolean: rule((value) => typeof value === 'boolean', 'is neither true nor false'),
  moment: rule(
    (value) => momentMs(value) !== undefined,
    `is not an ISO 8601 date-time of the years ${FIRST_YEAR} to ${LAST_YEAR}, such as 2026-05-18T08:00 or 2026-05-18T08:00:00-03:00`,
  ),
  latitude: within(90),
  longitude: within(180),
  point_type: rule(
    (value) => POINT_TYPE_NAMES.includes(value as string),
    `is not one of ${POINT_TYPE_NAMES.join(', ')}`,
  ),
  plate: rule(plate, 'is not a plate of the form ABC1234 or ABC1D23'),
  plates: rule(listOf(plate), 'is not a list of plates of the form ABC1234 or ABC1D23'),
  document: rule(document, 'is not a tax number with right check digits'),
  documents: rule(listOf(document), 'is not a list of tax numbers with right check digits'),
  address: (value) => (isJsonObject(value) ? storable(value) : text(value)),
  category: rule(isCategory, `is not one of ${POINT_OF_INTEREST_CATEGORIES.map(({ id }) => id).join(', ')}`),
};

export interface ObjectRules {
  fields: Fields;
  required: readonly string[];
  /** Names that are allowed and checked elsewhere. */
  parts?: readonly string[];
}

/** All that is wrong with the object's own fields; `at` stands before each name. */
export function fieldReasons(
  given: JsonObject,
  { fields, required, parts = [] }: ObjectRules,
  at = '',
): string[] {
  const reasons = required.filter((name) => isAbsent(given[name])).map((name) => `${at}${name}: is required`);
  const known = [...Object.keys(fields), ...parts];
  for (const [name, value] of Object.entries(given)) {
    if (isAbsent(value) || parts.includes(name)) continue;
    const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const broken = type === undefined ? `is not a known field${didYouMean(name, known)}` : RULES[type](value);
    if (broken !== undefined) reasons.push(`${at}${name}: ${broken}`);
  }
  return reasons;
}

export const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;

/** A period does not end before it begins; says nothing where either is no date-time. */
export function orderReasons(given: JsonObject, from: string, to: string, at = ''): string[] {
  const [fromMs, toMs] = [momentMs(given[from]), momentMs(given[to])];
  if (fromMs === undefined || toMs === undefined || fromMs <= toMs) return [];
  return [`${at}${to}: lies before ${from}`];
}

/** Not more than one of two names. */
export function onlyOneReasons(given: JsonObject, one: string, other: string): string[] {
  const isGiven = (value: Json | undefined) =>
    !isAbsent(value) && !(Array.isArray(value) && value.length === 0);
  return isGiven(given[one]) && isGiven(given[other])
    ? [`${other}: give only one of ${one} and ${other}`]
    : [];
}
