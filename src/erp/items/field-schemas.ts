// The schemas of field types, and of objects with a table of fields. Their messages use the words of docs/reference/erp-feeds.md.
// Null counts as absent.
import { z } from 'zod';
import { POINT_OF_INTEREST_CATEGORIES } from '../../core/code-lists.ts';
import { isJsonObject } from '../../core/json.ts';
import { isCpf } from '../../core/text/redaction.ts';
import { isStorable, isStorableJson } from '../../core/text/storable-text.ts';
import { issuesInWords, MOST_ISSUES, parseWithMessages } from '../../core/text/zod-words.ts';
import type { FieldTable, FieldType } from './fields.ts';
import { FIRST_YEAR, isUsualYear, isWallTime, LAST_YEAR, momentMs } from './moments.ts';
import { PLATE, POINT_TYPE_NAMES } from './value-forms.ts';

export const UNSTORABLE = 'contains a NUL or half a character, which databases cannot store';

/** Of a text in an index: an index entry of PostgreSQL holds at most 2,700 bytes. */
export const LONGEST_KEY = 500;
export const TOO_LONG = `is longer than ${LONGEST_KEY} characters`;

/** The error `message` for a wrong value, or `absent` for a missing one. */
export const wrong = (message: string, absent = 'is required') => ({
  error: ({ input }: { input?: unknown }) => (input === undefined || input === null ? absent : message),
});

/** Does not abort, so that the rules of the enclosing object are checked too. */
const value = (isValid: (value: unknown) => boolean, message: string) =>
  z.custom(isValid, { ...wrong(message), abort: false });

const text = z
  .string(wrong('is not a text'))
  .refine((value) => value.trim() !== '', 'is not a text')
  .refine(isStorable, UNSTORABLE);

const address = z.union(
  [text, z.custom(isJsonObject).refine((value) => isStorableJson(JSON.stringify(value)), UNSTORABLE)],
  wrong('is not a text'),
);

const number = z.number(wrong('is not a number'));
const within = (bound: number) => number.min(-bound, outside(bound)).max(bound, outside(bound));
const outside = (bound: number): string => `outside -${bound}..${bound}`;

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isPlate = (value: unknown): boolean => typeof value === 'string' && PLATE.test(value);
const isDocument = (value: unknown): boolean => typeof value === 'string' && isCpf(value);
const isListOf = (isValid: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(isValid);

const MOMENT = `is not an ISO 8601 date-time of the years ${FIRST_YEAR} to ${LAST_YEAR}, such as 2026-05-18T08:00 or 2026-05-18T08:00:00-03:00`;
/** Of a date-time that has no zone although it was to get one. */
const SKIPPED =
  'is a time that the clocks of the time zone skip on that day; add its offset, as in 2026-05-18T08:00:00-03:00';
const moment = z.custom((value) => momentMs(value) !== undefined, {
  error: ({ input }) => {
    if (input === undefined || input === null) return 'is required';
    return isWallTime(input) && isUsualYear(input as string) ? SKIPPED : MOMENT;
  },
  abort: false,
});
const CATEGORIES = POINT_OF_INTEREST_CATEGORIES.map(({ id }) => id);

const SCHEMAS: Readonly<Record<FieldType, z.ZodType>> = {
  text,
  number,
  integer: z.int(wrong('is not a whole number')),
  count: value(isCount, 'is not a whole number from 0'),
  seconds: value(isCount, 'is not a whole number of seconds from 0'),
  boolean: z.boolean(wrong('is neither true nor false')),
  moment,
  latitude: within(90),
  longitude: within(180),
  point_type: z.enum(POINT_TYPE_NAMES, wrong(`is not one of ${POINT_TYPE_NAMES.join(', ')}`)),
  plate: value(isPlate, 'is not a plate of the form ABC1234 or ABC1D23'),
  plates: value(isListOf(isPlate), 'is not a list of plates of the form ABC1234 or ABC1D23'),
  document: value(isDocument, 'is not a tax number with valid check digits'),
  documents: value(isListOf(isDocument), 'is not a list of tax numbers with valid check digits'),
  address,
  category: z.literal(CATEGORIES, wrong(`is not one of ${CATEGORIES.join(', ')}`)),
};

/** An object with the fields of the table and the nested `parts`, and no others. */
export function objectOf(
  { types, required }: FieldTable,
  parts: Record<string, z.ZodType> = {},
  otherwise = 'is not an object',
) {
  const fields = Object.entries(types).map(([name, type]) => [
    name,
    required.includes(name) ? SCHEMAS[type] : SCHEMAS[type].nullish(),
  ]);
  const error = ({ code }: { code: string }) => (code === 'unrecognized_keys' ? undefined : otherwise);
  return z.strictObject({ ...Object.fromEntries(fields), ...parts }, { error });
}

/**
 * A list, checked until more issues are found than are listed. zod would collect those of all entries, which takes seconds in
 * a list of some megabytes and can overflow the stack.
 */
export const listOf = (entry: z.ZodType, absent?: string) =>
  z.array(z.unknown(), wrong('is not a list', absent)).superRefine((entries, context) => {
    let found = 0;
    for (const [i, given] of entries.entries()) {
      const { error } = parseWithMessages(entry, given);
      if (error === undefined) continue;
      const issues = issuesInWords(error.issues, entry, given);
      for (const { path, message } of issues) context.addIssue({ code: 'custom', path: [i, ...path], message });
      found += issues.length;
      if (found > MOST_ISSUES) return;
    }
  });
