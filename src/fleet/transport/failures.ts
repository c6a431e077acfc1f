// Converts a status or a fault into the error that says how to handle it, by the status table. A message contains method,
// path and status, never body, query or token.
import { Ambiguous, Fatal, Retriable, type RoadbookError, Skippable } from '../../core/errors.ts';
import { DEFAULT_PAUSE_MS, retryAfterMs } from '../../core/retry/retry-after.ts';
import { parseLossless } from '../../core/text/lossless-json.ts';
import { FAULT_TABLE, type Meaning, meaningOfStatus } from './status-table.ts';
import type { WireAnswer } from './transport.ts';
import type { TransportFault } from './transport-fault.ts';

export interface FailedCall {
  /** A write changes something at the service. It is sent again only if it certainly had no effect. */
  kind: 'read' | 'write';
  method: string;
  path: string;
}

/** The cause of an error that the service answered with. */
export class FleetHttpError extends Error {
  readonly status: number;
  /** Whether the call was a read or a write. */
  readonly kind: FailedCall['kind'];
  /** The message of the service, shortened and redacted. Not enumerable, so that it is printed only on purpose. */
  declare readonly said: string | undefined;

  constructor(call: FailedCall, status: number, said: string | undefined) {
    super(`${call.method} ${call.path} answered ${status}`);
    this.name = 'FleetHttpError';
    this.status = status;
    this.kind = call.kind;
    Object.defineProperty(this, 'said', { value: said });
  }
}

/** The message of the service in the answer that caused the error; undefined if there is none. */
export function serviceMessage(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof FleetHttpError ? cause.said : undefined;
}

export function statusFailure(
  call: FailedCall,
  answer: WireAnswer,
  context: { nowMs: number; redact: (text: string) => string },
): { error: RoadbookError; pauseMs: number | undefined } {
  const meaning = meaningOfStatus(answer.status);
  const said = messageInBody(answer.body, context.redact);
  const cause = new FleetHttpError(call, answer.status, said);
  const pauseMs = pauseOf(meaning, answer, context.nowMs);
  return { error: asError(cause.message, call, meaning, cause, pauseMs), pauseMs };
}

export function faultFailure(call: FailedCall, fault: TransportFault): RoadbookError {
  const message = `${call.method} ${call.path} failed: ${FAULT_MESSAGES[fault.fault]}`;
  const detail = fault.detail === undefined ? '' : ` (${fault.detail})`;
  return asError(message + detail, call, FAULT_TABLE[fault.fault], fault);
}

const FAULT_MESSAGES: Readonly<Record<TransportFault['fault'], string>> = {
  unreachable: 'no connection to the service',
  tls: 'no trusted connection',
  timed_out: 'no answer in time',
  connection_lost: 'the connection was lost',
  aborted: 'the call was aborted',
  redirected: 'redirected too often',
  bad_answer: 'the answer cannot be read',
  body_too_large: 'the answer is larger than the limit',
};

/** The pause depends on the answer alone: it applies to every call, whatever the error means for this one. */
function pauseOf(meaning: Meaning, answer: WireAnswer, nowMs: number): number | undefined {
  if (meaning.pause === undefined) return undefined;
  const asked = retryAfterMs(answer.headers['retry-after'], nowMs);
  return asked ?? (meaning.pause === 'always' ? DEFAULT_PAUSE_MS : undefined);
}

/** Every ambiguous outcome has the same code and hint. */
const UNCLEAR = {
  code: 'answer_unclear',
  hint: 'The write may or may not have taken effect; read back before sending it again.',
};

function asError(message: string, call: FailedCall, meaning: Meaning, cause: Error, pauseMs?: number): RoadbookError {
  const { [call.kind]: kind, code, hint } = meaning;
  switch (kind) {
    case 'fatal':
      return new Fatal(message, { code, hint, cause });
    case 'skippable':
      return new Skippable(message, { code, hint, cause });
    case 'ambiguous':
      return new Ambiguous(message, { ...UNCLEAR, cause });
    case 'retriable':
      return new Retriable(message, { code: pauseMs === undefined ? code : 'throttled', hint, cause, pauseMs });
  }
}

const MESSAGE_FIELDS = ['message', 'error', 'detail', 'description', 'errors', 'reason'];
const LONGEST_MESSAGE = 300;
/** Characters of the message that are read, however long it is. */
const MOST_READ_CHARACTERS = 64_000;
/** No secret is longer. Dropping this many characters from a cut message removes any secret that was cut in half. */
const LONGEST_SECRET = 16_000;

/**
 * The message in an error body, shortened and redacted. The form of error bodies is not documented, so only fields that
 * commonly hold a message are read; any other body gives undefined.
 */
export function messageInBody(body: Buffer, redact: (text: string) => string): string | undefined {
  let document: unknown;
  try {
    document = parseLossless(body.toString('utf8'));
  } catch {
    return undefined;
  }
  const words = messagesIn(document, 0).join('; ');
  return words === '' ? undefined : shortened(words, redact);
}

function shortened(words: string, redact: (text: string) => string): string {
  const clean = redact(words.slice(0, MOST_READ_CHARACTERS));
  return (words.length > MOST_READ_CHARACTERS ? clean.slice(0, -LONGEST_SECRET) : clean).slice(0, LONGEST_MESSAGE);
}

function messagesIn(value: unknown, depth: number): string[] {
  if (depth > 3 || value === null) return [];
  if (typeof value === 'string') return depth === 0 ? [] : [value];
  if (Array.isArray(value)) return value.slice(0, 5).flatMap((item) => messagesIn(item, depth + 1));
  if (typeof value !== 'object') return [];
  const fields = value as Record<string, unknown>;
  return MESSAGE_FIELDS.flatMap((name) => (Object.hasOwn(fields, name) ? messagesIn(fields[name], depth + 1) : []));
}
