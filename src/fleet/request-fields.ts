// The building blocks of request schemas. They enforce strictly what the service documents, so that a wrong call is a
// local error with a path. The schema of each call fills in the documented defaults.
import { z } from 'zod';
import type { CodedName, NumberedName } from '../core/code-lists.ts';
import { type FieldRule, isGiven } from '../core/field-rules.ts';
import { isJsonObject } from '../core/json.ts';
import { toInstant } from './instants.ts';
import { instantAsSent } from './interpretations.ts';

/** The digits of an id beyond 2^53, which is held as text. */
export const LONG_ID = /^\d{16,19}$/;

/** A number, or the digits of a long id, as in records. */
export const recordId = z.union([z.int().nonnegative(), z.string().regex(LONG_ID)], {
  error: 'expected an id',
});

export const recordIds = z.array(recordId);

/** A date-time in a query. */
export const dateTime = z
  .string()
  .refine((text) => toInstant(text) !== undefined, { error: 'expected a date-time with Z or an offset' })
  .transform(instantAsSent);

export const nonEmptyText = z.string().min(1);

export const includesOf = <const Names extends readonly [string, ...string[]]>(names: Names) => z.array(z.enum(names));

/** For calls whose allowed includes are not documented: any name is sent. */
export const anyIncludes = z.array(nonEmptyText);

export const codeOf = (codes: readonly CodedName[]) => z.enum(codes.map(({ code }) => code) as [string, ...string[]]);

export const listedId = (names: readonly NumberedName[]) =>
  z.int().refine((id) => names.some((entry) => entry.id === id), {
    error: `expected one of ${names.map(({ id }) => id).join(', ')}`,
  });

/** An item of an ERP. The push has already validated it, so it is sent unchanged. */
export const itemData = z.custom<Record<string, unknown>>(isJsonObject, { error: 'expected an object' });

/** A period does not end before it begins. */
export const periodRule =
  (from: string, to: string): FieldRule =>
  ({ [from]: begin, [to]: end }) => {
    const [beginAt, endAt] = [begin, end].map((at) => (typeof at === 'string' ? toInstant(at) : undefined));
    if (beginAt === undefined || endAt === undefined || beginAt <= endAt) return [];
    return [{ path: [to], message: `ends before ${from}` }];
  };

/** At least one of `names` is not empty. */
export const oneOfRule =
  (...names: string[]): FieldRule =>
  (request) => {
    if (names.some((name) => isGiven(request[name]))) return [];
    return [{ path: [names[0] as string], message: `give at least one of ${names.join(' and ')}` }];
  };
