// What faults do to an answer. Early faults replace the call, so nothing is committed. Late faults change the answer of
// a call that was carried out. Faults of the transfer (drip, truncated, reset) are in delivery.ts.
import { gzipSync } from 'node:zlib';
import { type Answer, mapRecords, problemAnswer, textAnswer } from '../http/answer.ts';
import { hashKey, seededRandom } from '../made-up/seeded-random.ts';
import type { Fault } from './faults.ts';

const DEFAULT_BYTES = 64 * 1024 * 1024;
const DEFAULT_DEPTH = 100_000;
const CHUNK = 1024 * 1024;

/** The answer that replaces the call before anything is committed; undefined if the fault does not. */
export function replacementFor(fault: Fault, wallNow: number): Answer | undefined {
  return fault.after_commit === true ? undefined : substituteFor(fault, wallNow);
}

/** Applies a late fault to the answer of a call that was carried out. */
export function applyLateFault(answer: Answer, fault: Fault, wallNow: number): Answer {
  switch (fault.fault) {
    case 'html':
      return textAnswer('<!doctype html><title>Maintenance</title><h1>Please wait</h1>', 'text/html');
    case 'empty':
      return textAnswer('', 'application/json');
    case 'wrong-shape':
      return textAnswer('{"data":{"items":"none","page":null},"status":"ok"}', 'application/json');
    case 'deep':
      return deepAnswer(fault.bytes ?? DEFAULT_DEPTH);
    case 'huge':
      return hugeAnswer(fault.bytes ?? DEFAULT_BYTES);
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

/** The error or redirect that the fault sends instead of the call's own answer. */
function substituteFor(fault: Fault, wallNow: number): Answer | undefined {
  if (fault.fault === 'redirect') return redirectAnswer(fault.location ?? '/elsewhere');
  return statusAnswer(fault, wallNow);
}

function statusAnswer(fault: Fault, wallNow: number): Answer | undefined {
  const status = Number(fault.fault);
  if (!Number.isInteger(status)) return undefined;
  const answer = problemAnswer(status, `Injected fault ${status}`);
  const form = fault.retry_after ?? (status === 429 ? 'seconds' : 'missing');
  if (status !== 429 && status !== 503) return answer;
  const seconds = fault.seconds ?? 1;
  if (form === 'seconds') answer.headers['retry-after'] = String(seconds);
  if (form === 'date') answer.headers['retry-after'] = new Date(wallNow + seconds * 1_000).toUTCString();
  return answer;
}

const redirectAnswer = (location: string): Answer => {
  const answer = textAnswer('', 'text/plain', 302);
  answer.headers.location = location;
  return answer;
};

const deepAnswer = (depth: number): Answer =>
  textAnswer(`{"data":${'['.repeat(depth)}${']'.repeat(depth)}}`, 'application/json');

function hugeAnswer(bytes: number): Answer {
  function* chunks(): Generator<Uint8Array> {
    const chunk = Buffer.alloc(CHUNK, 0x20);
    for (let left = bytes; left > 0; left -= CHUNK) yield left >= CHUNK ? chunk : chunk.subarray(0, left);
  }
  return { status: 200, headers: { 'content-type': 'application/json' }, body: { chunks: chunks(), bytes } };
}

/** A gzip stream may have many members, so the sandbox compresses one chunk and sends it again and again. */
function gzipBomb(bytes: number): Answer {
  const chunk = Buffer.alloc(CHUNK, 0x20);
  const [member, last] = [gzipSync(chunk), gzipSync(chunk.subarray(0, bytes % CHUNK))];
  const members = Math.floor(bytes / CHUNK);
  function* chunks(): Generator<Uint8Array> {
    for (let sent = 0; sent < members; sent++) yield member;
    yield last;
  }
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: { chunks: chunks(), bytes: members * member.length + last.length },
  };
}

/** Adds prototype-pollution keys to each record, or to the answer itself. A careless reader would change every object. */
function withProtoKeys(answer: Answer): Answer {
  const polluted = { polluted: true };
  // Object.fromEntries, because an assignment to __proto__ does not create a field.
  const withKeys = (value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries([
          ['__proto__', polluted],
          ['constructor', { prototype: polluted }],
          ...Object.entries(value),
        ]);
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
