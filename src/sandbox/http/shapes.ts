// Variants of an answer that the API document leaves open. A test can switch each of them. They are applied last, so the
// world does not depend on them.
import { z } from 'zod';
import { offsetText } from '../world/company-time.ts';
import { type Answer, jsonAnswer } from './answer.ts';

export const shapesSchema = z.strictObject({
  /** A listing's envelope. Default array. */
  data: z.enum(['array', 'object-when-single', 'top-level']),
  /** The picture call's body. Default base64. */
  picture: z.enum(['base64', 'data-uri', 'json']),
  /** The answer to a creation or a change. Default data-object. */
  created: z.enum(['object', 'data-object', 'id-only', 'empty']),
  /** How instants are written. Default z. */
  dates: z.enum(['z', 'offset', 'z-millis']),
  /** text: every number except ids is sent as text. Default number. */
  numbers: z.enum(['number', 'text']),
  /** Which plans a search by period returns. Default overlap. */
  planSearch: z.enum(['overlap', 'start', 'containment', 'days']),
  /** Whether a record that begins at the end of a period belongs to it. Default inclusive. */
  periodEnds: z.enum(['inclusive', 'exclusive']),
  /** Most records in a listing; further ones are left out without a word. Default null: no limit. */
  listingCap: z.int().positive().nullable(),
  /** Most vehicles in an event query; more are rejected. Default null: no limit. */
  mostVehicleIds: z.int().positive().nullable(),
});

export type Shapes = z.infer<typeof shapesSchema>;

export const DEFAULT_SHAPES: Shapes = {
  data: 'array',
  picture: 'base64',
  created: 'data-object',
  dates: 'z',
  numbers: 'number',
  planSearch: 'overlap',
  periodEnds: 'inclusive',
  listingCap: null,
  mostVehicleIds: null,
};

export function instantText({ dates }: Shapes, at: number): string {
  if (dates === 'offset') return offsetText(at);
  const text = new Date(at).toISOString();
  return dates === 'z-millis' ? text : `${text.slice(0, 19)}Z`;
}

export function listAnswer(shapes: Shapes, found: readonly unknown[]): Answer {
  const records = capped(shapes, found);
  if (shapes.data === 'top-level') return jsonAnswer(withNumbers(shapes, records));
  const data = shapes.data === 'object-when-single' && records.length === 1 ? records[0] : records;
  return jsonAnswer({ data: withNumbers(shapes, data) });
}

export const capped = <T>({ listingCap }: Shapes, records: readonly T[]): readonly T[] =>
  listingCap === null ? records : records.slice(0, listingCap);

/** The answer to a read by id. */
export function oneAnswer(shapes: Shapes, record: unknown): Answer {
  const shaped = withNumbers(shapes, record);
  return jsonAnswer(shapes.data === 'top-level' ? shaped : { data: shaped });
}

export function writtenAnswer(shapes: Shapes, record: { id: number }): Answer {
  switch (shapes.created) {
    case 'object':
      return jsonAnswer(withNumbers(shapes, record));
    case 'id-only':
      return jsonAnswer({ id: record.id });
    case 'empty':
      return { status: 200, headers: {}, body: { chunks: [] } };
    default:
      return jsonAnswer({ data: withNumbers(shapes, record) });
  }
}

export const withNumbers = (shapes: Shapes, value: unknown): unknown =>
  shapes.numbers === 'text' ? numbersAsText(value) : value;

const IDENTIFIER = /(^|_)ids?$/;

function numbersAsText(value: unknown, key = ''): unknown {
  if (typeof value === 'number') return IDENTIFIER.test(key) ? value : String(value);
  if (Array.isArray(value)) return value.map((item) => numbersAsText(item, key));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, numbersAsText(item, name)]));
}
