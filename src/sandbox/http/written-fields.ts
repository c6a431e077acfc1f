// Reads the fields of a write by their documented types. A wrong or missing field rejects the request with 422 and the
// name of the field.
import { Rejection } from './answer.ts';
import { instantOf } from './parameters.ts';

type Fields = Record<string, unknown>;

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

const invalid = (name: string, kind: string): Rejection => new Rejection(422, `${name}: must be ${kind}`);

export function textField(fields: Fields, name: string): string | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  if (typeof value !== 'string') throw invalid(name, 'a text');
  return value;
}

export function requiredText(fields: Fields, name: string): string {
  const value = textField(fields, name);
  if (value === null || value.trim() === '') throw new Rejection(422, `${name}: is required`);
  return value;
}

function numberField(fields: Fields, name: string): number | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw invalid(name, 'a number');
  return value;
}

export function integerField(fields: Fields, name: string): number | null {
  const value = numberField(fields, name);
  if (value !== null && !Number.isInteger(value)) throw invalid(name, 'an integer');
  return value;
}

export function booleanField(fields: Fields, name: string): boolean | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  if (typeof value !== 'boolean') throw invalid(name, 'true or false');
  return value;
}

export function requiredBoolean(fields: Fields, name: string): boolean {
  const value = booleanField(fields, name);
  if (value === null) throw new Rejection(422, `${name}: is required`);
  return value;
}

export function instantField(fields: Fields, name: string): number | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  const at = instantOf(value);
  if (at === undefined) throw invalid(name, 'an ISO 8601 date-time with Z or an offset');
  return at;
}

export function requiredInstantField(fields: Fields, name: string): number {
  const at = instantField(fields, name);
  if (at === null) throw new Rejection(422, `${name}: is required`);
  return at;
}

export function textListField(fields: Fields, name: string): string[] | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) throw invalid(name, 'a list of texts');
  return value;
}

/** A coordinate in range, required. */
export function coordinateField(fields: Fields, name: 'latitude' | 'longitude'): number {
  const value = numberField(fields, name);
  if (value === null) throw new Rejection(422, `${name}: is required`);
  if (!isCoordinate(name, value)) throw invalid(name, 'a coordinate in range');
  return value;
}

export const isCoordinate = (name: 'latitude' | 'longitude', value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= (name === 'latitude' ? 90 : 180);
