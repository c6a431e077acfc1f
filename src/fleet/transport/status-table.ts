// The one table that says what a failure means: every status and every fault, for a read and for a write.
// A write whose outcome is not a clear answer is `ambiguous`, never `retriable`.
import type { FaultName } from './transport-fault.ts';

export type ErrorKind = 'fatal' | 'retriable' | 'skippable' | 'ambiguous';

export interface Meaning {
  read: ErrorKind;
  write: ErrorKind;
  /** For machines; `answer_unclear` takes its place where the outcome is ambiguous. */
  code: string;
  hint: string;
  /** Holds all calls back: `always`, or only where the answer has a Retry-After. */
  pause?: 'always' | 'if-asked';
}

const OVERLOADED = 'The service is overloaded or down; what was not done is done again at the next tick.';
const REFUSED = 'The service does not accept this request; compare its fields with what the account holds.';

/** By status; a status without a row takes the row of its class. */
export const STATUS_TABLE: Readonly<Record<string, Meaning>> = {
  // A write may be answered by a redirect after it was done.
  '3xx': {
    read: 'fatal',
    write: 'ambiguous',
    code: 'redirected',
    hint: 'Set service.base_url to the address that the service redirects to, if you trust it.',
  },
  400: { read: 'skippable', write: 'skippable', code: 'request_refused', hint: REFUSED },
  401: {
    read: 'fatal',
    write: 'fatal',
    code: 'unauthorised',
    hint: 'If a fresh token is refused too, ask the service whether this account may make this call.',
  },
  403: {
    read: 'fatal',
    write: 'fatal',
    code: 'forbidden',
    hint: 'Ask the service to give this account access to the call, or disable the job.',
  },
  404: {
    read: 'skippable',
    write: 'skippable',
    code: 'not_found',
    hint: 'It was removed at the service, or service.base_url lacks a part of its path.',
  },
  408: { read: 'retriable', write: 'ambiguous', code: 'timed_out', hint: OVERLOADED },
  409: { read: 'skippable', write: 'skippable', code: 'conflict', hint: REFUSED },
  413: { read: 'skippable', write: 'skippable', code: 'too_large', hint: 'Ask for less at once.' },
  414: { read: 'skippable', write: 'skippable', code: 'too_large', hint: 'Ask for less at once.' },
  422: { read: 'skippable', write: 'skippable', code: 'request_refused', hint: REFUSED },
  425: { read: 'retriable', write: 'ambiguous', code: 'too_early', hint: OVERLOADED },
  429: {
    read: 'retriable',
    write: 'retriable',
    code: 'throttled',
    hint: 'Lower service.requests_per_minute if this happens often.',
    pause: 'always',
  },
  '4xx': { read: 'skippable', write: 'skippable', code: 'request_refused', hint: REFUSED },
  503: { read: 'retriable', write: 'ambiguous', code: 'service_failed', hint: OVERLOADED, pause: 'if-asked' },
  '5xx': { read: 'retriable', write: 'ambiguous', code: 'service_failed', hint: OVERLOADED },
  other: {
    read: 'retriable',
    write: 'ambiguous',
    code: 'bad_answer',
    hint: 'Something between here and the service answers in its place; check service.base_url and proxies.',
  },
};

export const FAULT_TABLE: Readonly<Record<FaultName, Meaning>> = {
  unreachable: {
    read: 'retriable',
    write: 'retriable',
    code: 'service_unreachable',
    hint: 'Check service.base_url, the network and whether the service is up.',
  },
  tls: {
    read: 'fatal',
    write: 'fatal',
    code: 'tls',
    hint: 'The certificate of the service is not trusted; check service.base_url and the clock of this machine.',
  },
  timed_out: {
    read: 'retriable',
    write: 'ambiguous',
    code: 'timed_out',
    hint: 'Raise service.timeout if the service needs longer.',
  },
  connection_lost: { read: 'retriable', write: 'ambiguous', code: 'connection_lost', hint: OVERLOADED },
  // A read that is given up leaves as the reason of the abort instead.
  aborted: {
    read: 'retriable',
    write: 'ambiguous',
    code: 'aborted',
    hint: 'It was stopped while the answer was on its way.',
  },
  redirected: {
    read: 'fatal',
    write: 'ambiguous',
    code: 'redirected',
    hint: 'The service redirects in a circle; check service.base_url.',
  },
  bad_answer: {
    read: 'retriable',
    write: 'ambiguous',
    code: 'bad_answer',
    hint: 'Something between here and the service may answer in its place; check service.base_url and proxies.',
  },
  body_too_large: {
    read: 'skippable',
    write: 'ambiguous',
    code: 'body_too_large',
    hint: 'Ask for less at once, or raise the cap on bodies.',
  },
};

const AMBIGUOUS_HINT = 'It may or may not have been done: read back before it is sent again.';

/** The row of `status`; `other` is also the row of a success where a refusal was due. */
export function meaningOfStatus(status: number): Meaning {
  const byClass = STATUS_TABLE[`${Math.floor(status / 100)}xx`];
  return STATUS_TABLE[status] ?? byClass ?? (STATUS_TABLE.other as Meaning);
}

/** What a call of this kind makes of a row: an ambiguous outcome has one code, whatever led to it. */
export function readMeaning(
  meaning: Meaning,
  kind: 'read' | 'write',
): Pick<Meaning, 'code' | 'hint'> & { kind: ErrorKind } {
  const errorKind = meaning[kind];
  if (errorKind !== 'ambiguous') return { kind: errorKind, code: meaning.code, hint: meaning.hint };
  return { kind: errorKind, code: 'answer_unclear', hint: AMBIGUOUS_HINT };
}
