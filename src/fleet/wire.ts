// The building blocks of record schemas. Each accepts every form the service may send for a type and converts it to one
// normal form. Null and absent values stay unchanged; an empty text counts as null for numbers, flags and dates.
// They run for every field of every record, so each returns a value that is already normal on its first line.
import { z } from 'zod';
import { wrongKind } from '../core/text/zod-words.ts';
import { toDay, toInstant } from './instants.ts';

/** The normal form of a value; null if it is empty, undefined if it is invalid. */
type Convert<T> = (value: unknown) => T | null | undefined;

function nullable<T>(expected: string, convert: Convert<T>) {
  return z.transform((value: unknown, context): T | null | undefined => {
    if (value === null || value === undefined) return value;
    const normal = convert(value);
    if (normal === undefined) {
      context.issues.push({ code: 'custom', message: wrongKind(expected, value), input: undefined });
    }
    return normal;
  });
}

function required<T>(expected: string, convert: Convert<T>) {
  return z.transform((value: unknown, context): T => {
    const normal = value === undefined ? undefined : convert(value);
    if (normal === undefined || normal === null) {
      context.issues.push({ code: 'custom', message: wrongKind(expected, value), input: undefined });
    }
    return normal as T;
  });
}

const INTEGER_TEXT = /^\s*([+-]?\d{1,20})(?:\.0+)?\s*$/;
const DECIMAL_TEXT = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** An integer of the service; beyond 2^53 it is text, so that no digit is lost. */
export type WireInteger = number | string;

function toInteger(value: unknown): WireInteger | null | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  if (typeof value !== 'string') return undefined;
  if (value.trim() === '') return null;
  const digits = INTEGER_TEXT.exec(value)?.[1];
  if (digits === undefined) return undefined;
  const number = Number(digits);
  if (Number.isSafeInteger(number)) return number;
  const exact = BigInt(digits.startsWith('+') ? digits.slice(1) : digits);
  return exact >= INT64_MIN && exact <= INT64_MAX ? exact.toString() : undefined;
}

/** A number that a double would round stays text: its column is left empty and `extra` keeps the digits. */
function toDecimal(value: unknown): number | string | null | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string') return undefined;
  if (value.trim() === '') return null;
  if (!DECIMAL_TEXT.test(value)) return undefined;
  const number = Number(value);
  if (!Number.isFinite(number)) return undefined;
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? value.trim() : number;
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

const FLAGS: ReadonlyMap<unknown, boolean | null> = new Map<unknown, boolean | null>([
  [true, true],
  [false, false],
  [1, true],
  [0, false],
  ['1', true],
  ['0', false],
  ['true', true],
  ['false', false],
  ['', null],
]);

const ofText =
  (convert: (text: string) => string | undefined): Convert<string> =>
  (value) => {
    if (typeof value !== 'string') return undefined;
    return value === '' ? null : convert(value);
  };

export const integer = nullable('a whole number', toInteger);
export const decimal = nullable('a number', toDecimal);
export const text = nullable('text', toText);
export const flag = nullable('true or false', (value) => FLAGS.get(value));
export const instant = nullable('a date-time with a zone', ofText(toInstant));
export const day = nullable('a date', ofText(toDay));

/** The identity of a record; a record without it is invalid. */
export const id = required('a whole number', toInteger);
export const name = required('text', toText);

/** A nested object; fields outside `shape` pass unchanged. */
export const object = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.looseObject(shape).nullish();

export const list = <Item extends z.ZodType>(item: Item) => z.array(item).nullish();
