// Reads the fields of a written body as the document types them. A wrong or missing field refuses the whole
// body with 422 and its name.
import { Refusal } from './answer.ts';
import { instantOf } from './parameters.ts';

type Fields = Record<string, unknown>;

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

const wrong = (name: string, kind: string): Refusal => new Refusal(422, `${name}: must be ${kind}`);

export function textField(fields: Fields, name: string): string | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  if (typeof value !== 'string') throw wrong(name, 'a text');
  return value;
}

export function requiredText(fields: Fields, name: string): string {
  const value = textField(fields, name);
  if (value === null || value.trim() === '') throw new Refusal(422, `${name}: is required`);
  return value;
}

function numberField(fields: Fields, name: string): number | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(name, 'a number');
  return value;
}

export function integerField(fields: Fields, name: string): number | null {
  const value = numberField(fields, name);
  if (value !== null && !Number.isInteger(value)) throw wrong(name, 'an integer');
  return value;
}

export function booleanField(fields: Fields, name: string): boolean | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  if (typeof value !== 'boolean') throw wrong(name, 'true or false');
  return value;
}

export function requiredBoolean(fields: Fields, name: string): boolean {
  const value = booleanField(fields, name);
  if (value === null) throw new Refusal(422, `${name}: is required`);
  return value;
}

export function instantField(fields: Fields, name: string): number | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  const at = instantOf(value);
  if (at === undefined) throw wrong(name, 'an ISO 8601 date-time with Z or an offset');
  return at;
}

export function requiredInstantField(fields: Fields, name: string): number {
  const at = instantField(fields, name);
  if (at === null) throw new Refusal(422, `${name}: is required`);
  return at;
}

export function textListField(fields: Fields, name: string): string[] | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw wrong(name, 'a list of texts');
  return value;
}

/** A coordinate in range, required. */
export function coordinateField(fields: Fields, name: 'latitude' | 'longitude'): number {
  const value = numberField(fields, name);
  if (value === null) throw new Refusal(422, `${name}: is required`);
  if (!isCoordinate(name, value)) throw wrong(name, 'a coordinate in range');
  return value;
}

export const isCoordinate = (name: 'latitude' | 'longitude', value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= (name === 'latitude' ? 90 : 180);
