// Extracts the JSON document from an answer, and the records from the document, in every shape the service is known to
// use. Any other shape is an error: if it counted as an empty list, records would be missed without notice.
import { isJsonObject } from '../core/json.ts';
import { parseLossless } from '../core/text/lossless-json.ts';
import { truncateDepth } from './cut-record.ts';
import type { WireAnswer } from './transport/transport.ts';
import { TransportFault } from './transport/transport-fault.ts';

const NO_CONTENT = 204;
/** Nesting limit for a document whose records are truncated. A deeper document does not come from the service. */
const READABLE_LEVELS = 1_000;

const badAnswer = (what: string): TransportFault => new TransportFault('bad_answer', what);

/** The JSON document of an answer; undefined for 204 No Content. The parser's own error quotes the text, so it is not kept. */
export function documentOf(answer: WireAnswer, parse: (text: string) => unknown = parseLossless): unknown {
  if (answer.status === NO_CONTENT) return undefined;
  const text = answer.body.toString('utf8').trim();
  if (text === '') throw badAnswer('empty body');
  if (text.startsWith('<')) throw badAnswer('HTML or XML instead of JSON');
  try {
    return parse(text);
  } catch {
    throw badAnswer('invalid JSON');
  }
}

/** The field that identifies a record of a call. */
export type Identity = 'id' | 'title';

/**
 * The records of a document: `data` as a list or as one object, the list itself, one record, or none. A `title` identifies
 * a record inside `data` only: at the top level, error documents have a title too.
 */
export function recordsOf(document: unknown, identity: Identity = 'id'): unknown[] {
  if (document === undefined || document === null) return [];
  if (Array.isArray(document)) return document;
  if (!isJsonObject(document)) throw badAnswer('not a list');
  if (!('data' in document)) return singleRecord(document, identity === 'title' ? undefined : identity);
  const { data } = document;
  if (data === null) return [];
  if (Array.isArray(data)) return data;
  if (isJsonObject(data)) return singleRecord(data, identity);
  throw badAnswer('data is not a list');
}

/** An object in place of a list is a record if it has the identity field. Otherwise its meaning is unknown. */
function singleRecord(object: Record<string, unknown>, identity: Identity | undefined): unknown[] {
  if (Object.keys(object).length === 0) return [];
  if (identity !== undefined && identity in object) return [object];
  throw badAnswer('data is not a list');
}

/** The records of an answer. A record nested too deep is truncated, so that only this record is quarantined. */
export function recordsIn(answer: WireAnswer, identity?: Identity): unknown[] {
  let isDeep = false;
  const document = documentOf(answer, (text) => {
    try {
      return parseLossless(text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      isDeep = true;
      return parseLossless(text, READABLE_LEVELS);
    }
  });
  const records = recordsOf(document, identity);
  return isDeep ? records.map((record) => truncateDepth(record)) : records;
}

/** The id in the answer to a create or change, at the top level or in its first record; undefined if there is none. */
export function idOf(document: unknown): number | undefined {
  const candidates = [document, isJsonObject(document) ? document.data : undefined]
    .map((found) => (Array.isArray(found) ? found[0] : found))
    .map((found) => (isJsonObject(found) ? found.id : undefined));
  return candidates.map(asId).find((id) => id !== undefined);
}

/** An id that the service may send as text; undefined if the value is none. */
export function asId(value: unknown): number | undefined {
  const id = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}
