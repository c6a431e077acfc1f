// Turns a status or a fault into the error that says what to do about it, by the one table. A message names
// method, path and status; body, query and token stay out of it.
import { Ambiguous, Fatal, Retriable, type RoadbookError, Skippable } from '../../core/errors.ts';
import { DEFAULT_PAUSE_MS, retryAfterMs } from '../../core/retry/retry-after.ts';
import { parseJson } from '../json.ts';
import { FAULT_TABLE, type Meaning, meaningOfStatus, readMeaning } from './status-table.ts';
import type { WireAnswer } from './transport.ts';
import type { TransportFault } from './transport-fault.ts';

/** Which call failed; what is sent once only is a `write`. */
export interface FailedCall {
  kind: 'read' | 'write';
  method: string;
  path: string;
}

/** The cause of an error that came of an answer. */
export class FleetHttpError extends Error {
  readonly status: number;
  /** Whether it answered a read or a write. */
  readonly kind: FailedCall['kind'];
  readonly method: string;
  readonly path: string;
  /** What the service said about it, short and redacted; not enumerable, so that it is shown only on purpose. */
  declare readonly said: string | undefined;

  constructor(call: FailedCall, status: number, said: string | undefined) {
    super(`${call.method} ${call.path} answered ${status}`);
    this.name = 'FleetHttpError';
    this.status = status;
    this.kind = call.kind;
    this.method = call.method;
    this.path = call.path;
    Object.defineProperty(this, 'said', { value: said });
  }
}

/** What the service said when it refused, where an error came of an answer that says something. */
export function saidBy(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof FleetHttpError ? cause.said : undefined;
}

export function statusFailure(
  call: FailedCall,
  answer: WireAnswer,
  context: {
    nowMs: number;
    redact: (text: string) => string;
  },
): { error: RoadbookError; pauseMs: number | undefined } {
  const meaning = meaningOfStatus(answer.status);
  const said = serviceWords(answer.body, context.redact);
  const cause = new FleetHttpError(call, answer.status, said);
  const pauseMs = pauseOf(meaning, answer, context.nowMs);
  return { error: asError(cause.message, call, meaning, cause, pauseMs), pauseMs };
}

export function faultFailure(call: FailedCall, fault: TransportFault): RoadbookError {
  const message = `${call.method} ${call.path} failed: ${FAULT_WORDS[fault.fault]}`;
  const detail = fault.detail === undefined ? '' : ` (${fault.detail})`;
  return asError(message + detail, call, FAULT_TABLE[fault.fault], fault);
}

const FAULT_WORDS: Readonly<Record<TransportFault['fault'], string>> = {
  unreachable: 'no connection to the service',
  tls: 'no trusted connection',
  timed_out: 'no answer in time',
  connection_lost: 'the connection was lost',
  aborted: 'it was stopped',
  redirected: 'redirected too often',
  bad_answer: 'the answer cannot be read',
  body_too_large: 'the answer is larger than the cap',
};

/** A pause is asked for by the answer alone: it holds for every call, whatever the error is to this one. */
function pauseOf(meaning: Meaning, answer: WireAnswer, nowMs: number): number | undefined {
  if (meaning.pause === undefined) return undefined;
  const asked = retryAfterMs(answer.headers['retry-after'], nowMs);
  return asked ?? (meaning.pause === 'always' ? DEFAULT_PAUSE_MS : undefined);
}

function asError(
  message: string,
  call: FailedCall,
  meaning: Meaning,
  cause: Error,
  pauseMs?: number,
): RoadbookError {
  const { kind, code, hint } = readMeaning(meaning, call.kind);
  const details = { code: pauseMs === undefined || kind !== 'retriable' ? code : 'throttled', hint, cause };
  switch (kind) {
    case 'fatal':
      return new Fatal(message, details);
    case 'skippable':
      return new Skippable(message, details);
    case 'ambiguous':
      return new Ambiguous(message, details);
    case 'retriable':
      return new Retriable(message, { ...details, pauseMs });
  }
}

const MESSAGE_FIELDS = ['message', 'error', 'detail', 'description', 'errors', 'reason'];
const LONGEST = 300;
/** Characters of a refusal that are looked at, however long it is. */
const MOST_READ = 64_000;
/** No secret is longer, so no half of one that was cut at the end reaches further back. */
const LONGEST_SECRET = 16_000;

/**
 * The reason inside a refusal. The form of error bodies is not documented, so only fields that commonly hold a message are
 * read, short and redacted; a body of any other form says nothing.
 */
export function serviceWords(body: Buffer, redact: (text: string) => string): string | undefined {
  let document: unknown;
  try {
    document = parseJson(body.toString('utf8'));
  } catch {
    return undefined;
  }
  const words = wordsIn(document, 0).join('; ');
  return words === '' ? undefined : shortened(words, redact);
}

function shortened(words: string, redact: (text: string) => string): string {
  const clean = redact(words.slice(0, MOST_READ));
  return (words.length > MOST_READ ? clean.slice(0, -LONGEST_SECRET) : clean).slice(0, LONGEST);
}

function wordsIn(value: unknown, depth: number): string[] {
  if (depth > 3 || value === null) return [];
  if (typeof value === 'string') return depth === 0 ? [] : [value];
  if (Array.isArray(value)) return value.slice(0, 5).flatMap((item) => wordsIn(item, depth + 1));
  if (typeof value !== 'object') return [];
  const fields = value as Record<string, unknown>;
  return MESSAGE_FIELDS.flatMap((name) =>
    Object.hasOwn(fields, name) ? wordsIn(fields[name], depth + 1) : [],
  );
}
