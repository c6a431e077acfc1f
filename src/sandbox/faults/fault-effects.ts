// What faults do to an answer. Early faults replace the call, so nothing is committed. Late faults change the answer of
// a call that was carried out. Faults of the transfer (drip, truncated, reset) are in delivery.ts.
import { gzipSync } from 'node:zlib';
import { isJsonObject } from '../../core/json.ts';
import { type Answer, bytesAnswer, mapRecords, problemAnswer, textAnswer } from '../http/answer.ts';
import { hashKey, seededRandom } from '../made-up/seeded-random.ts';
import type { Fault } from './faults.ts';

const DEFAULT_BYTES = 64 * 1024 * 1024;
const DEFAULT_DEPTH = 100_000;
const CHUNK = 1024 * 1024;

/** Applies a late fault to the answer of a call that was carried out. */
export function applyLateFault(answer: Answer, fault: Fault, wallNow: number): Answer {
  switch (fault.fault) {
    case 'html':
      return textAnswer('<!doctype html><title>Maintenance</title><h1>Please wait</h1>', 'text/html');
    case 'empty':
      return textAnswer('');
    case 'wrong-shape':
      return textAnswer('{"data":{"items":"none","page":null},"status":"ok"}');
    case 'deep': {
      const depth = fault.bytes ?? DEFAULT_DEPTH;
      return textAnswer(`{"data":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    }
    case 'huge':
      return bytesAnswer(spaces(fault.bytes ?? DEFAULT_BYTES));
    case 'gzip-bomb':
      return gzipBomb(fault.bytes ?? DEFAULT_BYTES);
    case 'proto-keys':
      return withProtoKeys(answer);
    case 'wrong-type':
      return { ...answer, headers: { ...answer.headers, 'content-type': 'text/html; charset=latin1' } };
    case 'wrong-encoding':
      return { ...answer, headers: { ...answer.headers, 'content-encoding': 'gzip' } };
    case 'duplicate':
      return mapRecords(answer, (records) => [...records, ...records]);
    case 'reordered':
      return mapRecords(answer, shuffled);
    case 'no-records':
      return mapRecords(answer, () => []);
    case 'fewer-records':
      return mapRecords(answer, (records) => records.slice(0, records.length >> 1));
    default:
      return (fault.after_commit === true && substituteFor(fault, wallNow)) || answer;
  }
}

/** The error or redirect that the fault sends instead of the call's own answer; undefined for other faults. */
export function substituteFor(fault: Fault, wallNow: number): Answer | undefined {
  if (fault.fault === 'redirect') {
    const answer = textAnswer('', 'text/plain', 302);
    answer.headers.location = fault.location ?? '/elsewhere';
    return answer;
  }
  const status = Number(fault.fault);
  if (!Number.isInteger(status)) return undefined;
  const answer = problemAnswer(status, `Injected fault ${status}`);
  if (status !== 429 && status !== 503) return answer;
  const form = fault.retry_after ?? (status === 429 ? 'seconds' : 'missing');
  const seconds = fault.seconds ?? 1;
  if (form === 'seconds') answer.headers['retry-after'] = String(seconds);
  if (form === 'date') answer.headers['retry-after'] = new Date(wallNow + seconds * 1_000).toUTCString();
  return answer;
}

/** The same chunk again and again, so that a large body takes little memory. */
function spaces(bytes: number, encode = (chunk: Buffer) => chunk): Buffer[] {
  const chunk = Buffer.alloc(CHUNK, ' ');
  const complete = Array<Buffer>(Math.floor(bytes / CHUNK)).fill(encode(chunk));
  return [...complete, encode(chunk.subarray(0, bytes % CHUNK))];
}

/** A gzip stream may have many members. */
function gzipBomb(bytes: number): Answer {
  const answer = bytesAnswer(spaces(bytes, gzipSync));
  answer.headers['content-encoding'] = 'gzip';
  return answer;
}

/** Adds prototype-pollution keys to each record, or to the answer itself. A careless reader would change every object. */
function withProtoKeys(answer: Answer): Answer {
  const polluted = { polluted: true };
  // Object.fromEntries, because an assignment to __proto__ does not create a field.
  const keys = [
    ['__proto__', polluted],
    ['constructor', { prototype: polluted }],
  ];
  const withKeys = (value: unknown): unknown =>
    isJsonObject(value) ? Object.fromEntries([...keys, ...Object.entries(value)]) : value;
  const listed = mapRecords(answer, (records) => records.map(withKeys));
  if (listed !== answer || !('json' in answer.body)) return listed;
  return { ...answer, body: { json: withKeys(answer.body.json) } };
}

/** The records in another order; the same records always get the same order. */
function shuffled(records: unknown[]): unknown[] {
  const random = seededRandom(...hashKey([JSON.stringify(records)]));
  const rest = [...records];
  for (let i = rest.length - 1; i > 0; i--) {
    const j = random.int(0, i - 1);
    [rest[i], rest[j]] = [rest[j], rest[i]];
  }
  return rest;
}
