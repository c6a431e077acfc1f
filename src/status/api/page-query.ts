// What the page may ask for in the query of an address; anything else is told as a bad request.
import type { Context } from 'hono';
import { z } from 'zod';
import { pathText } from '../../core/text/zod-words.ts';
import { ApiError } from '../server/api-error.ts';

/** Rows that one answer brings. */
export const PAGE_ROWS = 50;

export const page = z.coerce.number().int().min(0).max(100_000).default(0);

/** A text that was left empty counts as not given. */
export const text = z
  .string()
  .max(200)
  .transform((given) => (given === '' ? undefined : given))
  .optional();

export function query<Shape extends z.ZodRawShape>(c: Context, shape: Shape): z.output<z.ZodObject<Shape>> {
  const parsed = z.object(shape).safeParse(c.req.query());
  if (parsed.success) return parsed.data;
  const names = parsed.error.issues.map(({ path }) => pathText(path)).join(', ');
  throw new ApiError(
    400,
    'bad_request',
    `The query does not fit: ${names}`,
    'Use the page, or see its calls.',
  );
}

/** A page of rows of which one more was read than is shown, to know whether there are more. */
export const paged = <T>(rows: readonly T[], number: number): { rows: T[]; page: number; more: boolean } => ({
  rows: rows.slice(0, PAGE_ROWS),
  page: number,
  more: rows.length > PAGE_ROWS,
});
