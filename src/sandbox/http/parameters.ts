// Reads query parameters as strictly as the API document defines them. A missing or invalid one is rejected with 422; a
// parameter that the document does not mention is ignored.
import { Rejection } from './answer.ts';

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;
const DATE_TIME_WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?$/;
const COMPANY_OFFSET = '-03:00';

/** Names may repeat. */
export type Query = URLSearchParams;

const invalid = (name: string, why: string): Rejection => new Rejection(422, `${name}: ${why}`);

export function requireParameter(query: Query, name: string): string {
  const value = query.get(name);
  if (value === null || value === '') throw invalid(name, 'is required');
  return value;
}

/** The instant of an ISO 8601 date-time with `Z` or an offset. */
export function instantOf(text: unknown): number | undefined {
  if (typeof text !== 'string' || !DATE_TIME.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

export function requiredInstant(query: Query, name: string): number {
  const at = instantOf(requireParameter(query, name));
  if (at === undefined) throw invalid(name, 'must be an ISO 8601 date-time with Z or an offset');
  return at;
}

export function optionalInstant(query: Query, name: string): number | undefined {
  return query.get(name) ? requiredInstant(query, name) : undefined;
}

/** For parameters of the documented type Text: a date-time without a zone is the company's local time. */
export function looseInstant(query: Query, name: string): number | undefined {
  const text = query.get(name);
  if (!text) return undefined;
  const zoned = DATE_TIME_WITHOUT_ZONE.test(text)
    ? `${(text.length === 10 ? `${text}T00:00` : text).replace(' ', 'T')}${COMPANY_OFFSET}`
    : text;
  const at = instantOf(zoned);
  if (at === undefined) throw invalid(name, 'must be a date and time');
  return at;
}

export function optionalInteger(query: Query, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d+$/.test(text)) throw invalid(name, 'must be an integer');
  return Number(text);
}

export function requiredInteger(query: Query, name: string): number {
  requireParameter(query, name);
  return optionalInteger(query, name) as number;
}

export function optionalWord(query: Query, name: string, allowed: readonly string[]): string | undefined {
  const word = query.get(name);
  if (word === null || word === '') return undefined;
  if (!allowed.includes(word)) throw invalid(name, `must be one of ${allowed.join(', ')}`);
  return word;
}

/** A Collection in any common encoding: JSON array, comma list, repeated name, `name[]`. */
export function collection(query: Query, name: string): string[] | undefined {
  const given = [...query.getAll(name), ...query.getAll(`${name}[]`)];
  if (given.length === 0) return undefined;
  return given.flatMap((text) => {
    const list = text.trim().startsWith('[') ? jsonArray(text, name) : text.split(',');
    return list.map((item) => String(item).trim()).filter((item) => item !== '');
  });
}

export function integerCollection(query: Query, name: string): number[] | undefined {
  return collection(query, name)?.map((item) => {
    if (!/^-?\d+$/.test(item)) throw invalid(name, 'must hold integers');
    return Number(item);
  });
}

export function wordCollection(query: Query, name: string, allowed: readonly string[]): string[] | undefined {
  const words = collection(query, name);
  const unknown = words?.find((word) => !allowed.includes(word));
  if (unknown !== undefined) throw invalid(name, `${unknown} is not one of ${allowed.join(', ')}`);
  return words;
}

/** A required Collection may be empty but not absent. */
export function requireCollection<T>(name: string, list: T[] | undefined): T[] {
  if (list === undefined) throw invalid(name, 'is required');
  return list;
}

export function jsonArray(text: string, name: string): unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(name, 'must be a JSON array');
  }
  if (!Array.isArray(value)) throw invalid(name, 'must be a JSON array');
  return value;
}
