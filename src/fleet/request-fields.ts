// The building blocks of request schemas: what the service documents for a parameter, held strictly, so that a
// wrong call is a local error with a path. Documented defaults are filled in, in the schema of the call.
import { z } from 'zod';
import type { CodedName, NumberedName } from '../core/code-lists.ts';
import { toInstant } from './instants.ts';
import { instantAsSent } from './readings.ts';

const LONG_DIGITS = /^\d{16,19}$/;

/** A number, or the digits of one beyond 2^53 as records hold it. */
export const recordId = z.union([z.int().nonnegative(), z.string().regex(LONG_DIGITS)], {
  error: 'expected an id',
});

export const recordIds = z.array(recordId);

const zoned = z.string().refine((text) => toInstant(text) !== undefined, {
  error: 'expected a date-time with Z or an offset',
});

/** A date-time in a query. */
export const moment = zoned.transform(instantAsSent);

/** A date-time in a body: sent as it is given, since the zone may be meant. */
export const bodyMoment = zoned;

export const word = z.string().min(1);

export const includesOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.array(z.enum(names));

/** Where the service lists no allowed includes, any name is sent. */
export const anyIncludes = z.array(word);

export const codeOf = (codes: readonly CodedName[]) =>
  z.enum(codes.map(({ code }) => code) as [string, ...string[]]);

export const idOfList = (names: readonly NumberedName[]) =>
  z.int().refine((id) => names.some((entry) => entry.id === id), {
    error: `expected one of ${names.map(({ id }) => id).join(', ')}`,
  });

export const latitude = z.number().min(-90).max(90);
export const longitude = z.number().min(-180).max(180);

export interface BrokenRule {
  path: PropertyKey[];
  message: string;
}

/** A rule over several fields; it sees the request even where single fields are wrong, so it trusts none. */
export type Rule = (request: Record<string, unknown>) => BrokenRule | undefined;

/** All rules are held at once with the fields, so that one error names everything. */
export function withRules<Schema extends z.ZodType<object>>(schema: Schema, ...rules: Rule[]): Schema {
  return schema.superRefine(
    (request, context) => {
      for (const rule of rules) {
        const broken = rule(request as Record<string, unknown>);
        if (broken !== undefined) context.addIssue({ code: 'custom', ...broken });
      }
    },
    { when: ({ value }) => typeof value === 'object' && value !== null },
  );
}

/** A period does not end before it begins. */
export const periodRule =
  (from: string, to: string): Rule =>
  ({ [from]: begin, [to]: end }) => {
    const [beginAt, endAt] = [begin, end].map((at) => (typeof at === 'string' ? toInstant(at) : undefined));
    if (beginAt === undefined || endAt === undefined || beginAt <= endAt) return undefined;
    return { path: [to], message: `ends before ${from}` };
  };

/** At least one of `names` has something in it. */
export const oneOfRule =
  (...names: string[]): Rule =>
  (request) => {
    if (names.some((name) => isGiven(request[name]))) return undefined;
    return { path: [names[0] as string], message: `give at least one of ${names.join(' and ')}` };
  };

/** Not more than one of `names`. */
export const onlyOneRule =
  (...names: string[]): Rule =>
  (request) => {
    const given = names.filter((name) => isGiven(request[name]));
    if (given.length < 2) return undefined;
    return { path: [given[1] as string], message: `give only one of ${names.join(' and ')}` };
  };

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
