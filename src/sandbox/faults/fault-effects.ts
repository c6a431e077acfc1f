// What faults do to an answer. Early ones replace the call, so nothing is committed; late ones spoil the
// answer of a call that was carried out. How bytes leave (drip, truncated, reset) is in delivery.ts.
import { gzipSync } from 'node:zlib';
import { type Answer, problemAnswer, textAnswer } from '../http/answer.ts';
import { mapRecords } from '../http/records.ts';
import { hashKey, seededRandom } from '../made-up/seeded-random.ts';
import type { Fault } from './faults.ts';

const DEFAULT_BYTES = 64 * 1024 * 1024;
const DEFAULT_DEPTH = 100_000;
const PIECE = 1024 * 1024;

/** The answer that takes the call's place before anything is committed. */
export function replacementFor(fault: Fault, wallNow: number): Answer | undefined {
  return fault.after_commit === true ? undefined : insteadOf(fault, wallNow);
}

/** The answer of a call that was carried out, as this fault leaves it. */
export function spoil(answer: Answer, fault: Fault, wallNow: number): Answer {
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
      return (fault.after_commit === true && insteadOf(fault, wallNow)) || answer;
  }
}

/** What is answered in place of the call's own answer. */
function insteadOf(fault: Fault, wallNow: number): Answer | undefined {
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
    const piece = Buffer.alloc(PIECE, 0x20);
    for (let left = bytes; left > 0; left -= PIECE) yield left >= PIECE ? piece : piece.subarray(0, left);
  }
  return { status: 200, headers: { 'content-type': 'application/json' }, body: { chunks: chunks(), bytes } };
}

/** Packed piece by piece: members one after another are one gzip stream, and the sandbox holds one of them. */
function gzipBomb(bytes: number): Answer {
  const piece = Buffer.alloc(PIECE, 0x20);
  const [member, last] = [gzipSync(piece), gzipSync(piece.subarray(0, bytes % PIECE))];
  const members = Math.floor(bytes / PIECE);
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

/** Fields that would change every object of a careless reader, in each record or in the answer itself. */
function withProtoKeys(answer: Answer): Answer {
  const polluted = { polluted: true };
  // By entries, since an assignment to __proto__ makes no field.
  const spoiled = (value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries([
          ['__proto__', polluted],
          ['constructor', { prototype: polluted }],
          ...Object.entries(value),
        ]);
  const listed = mapRecords(answer, (records) => records.map(spoiled));
  if (listed !== answer || !('json' in answer.body)) return listed;
  return { ...answer, body: { json: spoiled(answer.body.json) } };
}

/** Another order of the same records, the same one for the same records. */
function shuffled(records: unknown[]): unknown[] {
  const random = seededRandom(...hashKey([JSON.stringify(records)]));
  const rest = [...records];
  for (let i = rest.length - 1; i > 0; i--) {
    const j = random.int(0, i - 1);
    [rest[i], rest[j]] = [rest[j], rest[i]];
  }
  return rest;
}
