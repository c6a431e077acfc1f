// Reads the query parameters and the language of the page. An invalid parameter is answered with 400.
import type { Context } from 'hono';
import { z } from 'zod';
import { pathText } from '../../core/text/zod-words.ts';
import { periodOf } from '../../core/time/local-days.ts';
import type { Language } from '../../erp/files/result-words.ts';
import { ApiError } from '../server/api-error.ts';

/** Rows in one response. */
export const PAGE_ROWS = 50;

export const page = z.coerce.number().int().min(0).max(100_000).default(0);

export function dayOf(day: string, timezone: string): { start: string; end: string } {
  const { from, to } = periodOf(day, timezone);
  return { start: from, end: to };
}

/** An empty text counts as absent. */
export const text = z
  .string()
  .max(200)
  .transform((given) => (given === '' ? undefined : given))
  .optional();

export function query<Shape extends z.ZodRawShape>(c: Context, shape: Shape): z.output<z.ZodObject<Shape>> {
  const parsed = z.object(shape).safeParse(c.req.query());
  if (parsed.success) return parsed.data;
  const names = parsed.error.issues.map(({ path }) => pathText(path)).join(', ');
  throw new ApiError(400, 'bad_request', `Invalid query parameters: ${names}`, 'Correct or remove them.');
}

/** The language in which the page shows the reasons of an item. */
export const languageOf = (c: Context): Language =>
  c.req.header('accept-language')?.startsWith('pt') === true ? 'pt' : 'en';

/** One page of `rows`. The caller reads one row more than a page, so that `more` is known. */
export const paged = <T>(rows: readonly T[], number: number): { rows: T[]; page: number; more: boolean } => ({
  rows: rows.slice(0, PAGE_ROWS),
  page: number,
  more: rows.length > PAGE_ROWS,
});
