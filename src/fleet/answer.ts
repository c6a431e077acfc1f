// Takes the document out of an answer, and the records out of the document, in every shape the service is known
// to use. A shape that could mean anything is refused: an empty list is only read where there is one.
import { isJsonObject } from '../core/glossary.ts';
import { withoutDepth } from './cut-record.ts';
import { NestedTooDeep, parseJson, UnreadableJson } from './json.ts';
import type { WireAnswer } from './transport/transport.ts';
import { TransportFault } from './transport/transport-fault.ts';

const NO_CONTENT = 204;
/** Of a document whose records are cut. Deeper ones are no document of the service, whatever they are. */
const READABLE_LEVELS = 1_000;

const unreadable = (what: string): TransportFault => new TransportFault('bad_answer', what);

/** The JSON document of an answer; undefined where the service says that there is none. */
export function documentOf(answer: WireAnswer, parse: (text: string) => unknown = parseJson): unknown {
  if (answer.status === NO_CONTENT) return undefined;
  const text = answer.body.toString('utf8').trim();
  if (text === '') throw unreadable('empty body');
  if (text.startsWith('<')) throw unreadable('HTML or XML instead of JSON');
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof UnreadableJson) throw unreadable('no valid JSON');
    throw error;
  }
}

/** The field by which a record of a call is known as one. */
export type Identity = 'id' | 'title';

/**
 * The records of a document: `data` as a list or as one object, the list itself, one record, or none. A title tells a
 * record inside `data` only: at the top it is what an error calls itself.
 */
export function recordsOf(document: unknown, identity: Identity = 'id'): unknown[] {
  if (document === undefined || document === null) return [];
  if (Array.isArray(document)) return document;
  if (!isJsonObject(document)) throw unreadable('no list');
  if (!('data' in document)) return recordAlone(document, identity === 'title' ? undefined : identity);
  const { data } = document;
  if (data === null) return [];
  if (Array.isArray(data)) return data;
  if (isJsonObject(data)) return recordAlone(data, identity);
  throw unreadable('no list in data');
}

/** An object where a list is due is a record where it names itself; what else it is cannot be known. */
function recordAlone(object: Record<string, unknown>, identity: Identity | undefined): unknown[] {
  if (isEmpty(object)) return [];
  if (identity !== undefined && identity in object) return [object];
  throw unreadable('no list in data');
}

/** The records of an answer. One that is nested too deep is cut, so that it can be refused without the others. */
export function recordsIn(answer: WireAnswer, identity?: Identity): unknown[] {
  let isDeep = false;
  const document = documentOf(answer, (text) => {
    try {
      return parseJson(text);
    } catch (error) {
      if (!(error instanceof NestedTooDeep)) throw error;
      isDeep = true;
      return parseJson(text, READABLE_LEVELS);
    }
  });
  const records = recordsOf(document, identity);
  return isDeep ? records.map((record) => withoutDepth(record)) : records;
}

/** The id that an answer to a create or change holds, at the top or in its first record; undefined where none. */
export function idOf(document: unknown): number | undefined {
  const candidates = [document, isJsonObject(document) ? document.data : undefined]
    .map((found) => (Array.isArray(found) ? found[0] : found))
    .map((found) => (isJsonObject(found) ? found.id : undefined));
  return candidates.map(asId).find((id) => id !== undefined);
}

function asId(value: unknown): number | undefined {
  const id = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;
