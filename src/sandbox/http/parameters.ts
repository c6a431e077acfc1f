// Reads queries and bodies as strictly as the API document defines them. A missing or invalid value is rejected with
// 422; a parameter that the document does not mention is ignored.
import { z } from 'zod';
import { issueTexts, parseWithMessages } from '../../core/text/zod-words.ts';
import { Rejection } from './answer.ts';

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;
const DATE_TIME_WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?$/;
const COMPANY_OFFSET = '-03:00';

export function checked<T extends z.ZodType>(schema: T, value: unknown, root = 'body'): z.output<T> {
  const result = parseWithMessages(schema, value);
  if (result.success) return result.data;
  throw new Rejection(422, issueTexts(result.error.issues, schema, value, root).join('; '));
}

export function parsedBody(text: string, status: 400 | 422): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Rejection(status, 'The body is not JSON');
  }
}

/** Each parameter of the schema gets all its texts: names may repeat, and a Collection may be sent as `name[]`. */
export function readQuery<T extends z.ZodObject>(schema: T, query: URLSearchParams): z.output<T> {
  const textsOf = (name: string) => [...query.getAll(name), ...query.getAll(`${name}[]`)];
  const given = Object.keys(schema.shape).map((name) => [name, textsOf(name)] as const);
  return checked(schema, Object.fromEntries(given.filter(([, texts]) => texts.length > 0)), 'query');
}

export const requiredText = z.string().regex(/\S/, 'is required');
export const integerText = z
  .string()
  .regex(/^-?\d+$/, 'must be an integer')
  .transform(Number);

/** The instant of an ISO 8601 date-time with `Z` or an offset. */
export const instant = z
  .string()
  .regex(DATE_TIME, 'must be an ISO 8601 date-time with Z or an offset')
  .transform((text) => Date.parse(text))
  .pipe(z.number());

/** For parameters of the documented type Text: a date-time without a zone is the company's local time. */
export const looseInstant = z
  .string()
  .transform((text) =>
    DATE_TIME_WITHOUT_ZONE.test(text)
      ? `${(text.length === 10 ? `${text}T00:00` : text).replace(' ', 'T')}${COMPANY_OFFSET}`
      : text,
  )
  .pipe(instant);

export const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue('must be JSON');
    return z.NEVER;
  }
});

/** A field of a body that may be absent or null. */
export const orNull = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? null);

/** A parameter with one value; an empty one is absent. */
export const one = <T extends z.ZodType>(schema: T) =>
  z.preprocess((texts) => (texts as string[] | undefined)?.[0] || undefined, schema);

/** A Collection in any common encoding: JSON array, comma list, repeated name, `name[]`. It may be empty. */
export const list = <T extends z.ZodType>(item: T) =>
  z
    .array(z.preprocess(jsonList, jsonText.pipe(z.array(z.unknown()))))
    .transform((lists) =>
      lists
        .flat()
        .map((value) => String(value).trim())
        .filter((text) => text !== ''),
    )
    .pipe(z.array(item as z.ZodType<z.output<T>, string>));

const jsonList = (text: unknown): string =>
  String(text).trim().startsWith('[') ? String(text) : JSON.stringify(String(text).split(','));
