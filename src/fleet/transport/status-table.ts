// The table of what each failure means: every status and every fault, for a read and for a write. A write that may have
// taken effect is `ambiguous`, never `retriable`.
import type { FaultName } from './transport-fault.ts';

export type ErrorKind = 'fatal' | 'retriable' | 'skippable' | 'ambiguous';

export interface Meaning {
  read: ErrorKind;
  write: ErrorKind;
  /** Error code; `answer_unclear` replaces it if the outcome is ambiguous. */
  code: string;
  hint: string;
  /** Pauses all calls: `always`, or only if the answer has a Retry-After. */
  pause?: 'always' | 'if-asked';
}

const OVERLOADED = 'The service is overloaded or down; the call is retried at the next run.';
const REJECTED = 'The service does not accept this request; compare its fields with the records of the account.';

/** By status; a status without a row uses the row of its class. */
export const STATUS_TABLE: Readonly<Record<string, Meaning>> = {
  // A redirect may arrive after the write took effect.
  '3xx': {
    read: 'fatal',
    write: 'ambiguous',
    code: 'redirected',
    hint: 'Set service.base_url to the address that the service redirects to, if you trust it.',
  },
  400: { read: 'skippable', write: 'skippable', code: 'request_refused', hint: REJECTED },
  401: {
    read: 'fatal',
    write: 'fatal',
    code: 'unauthorised',
    hint: 'If a new token is rejected too, ask the service whether this account may make this call.',
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
    hint: 'The record was deleted at the service, or service.base_url lacks a part of its path.',
  },
  408: { read: 'retriable', write: 'ambiguous', code: 'timed_out', hint: OVERLOADED },
  409: { read: 'skippable', write: 'skippable', code: 'conflict', hint: REJECTED },
  413: { read: 'skippable', write: 'skippable', code: 'too_large', hint: 'Request less at once.' },
  414: { read: 'skippable', write: 'skippable', code: 'too_large', hint: 'Request less at once.' },
  422: { read: 'skippable', write: 'skippable', code: 'request_refused', hint: REJECTED },
  425: { read: 'retriable', write: 'ambiguous', code: 'too_early', hint: OVERLOADED },
  429: {
    read: 'retriable',
    write: 'retriable',
    code: 'throttled',
    hint: 'Lower service.requests_per_minute if this happens often.',
    pause: 'always',
  },
  '4xx': { read: 'skippable', write: 'skippable', code: 'request_refused', hint: REJECTED },
  503: { read: 'retriable', write: 'ambiguous', code: 'service_failed', hint: OVERLOADED, pause: 'if-asked' },
  '5xx': { read: 'retriable', write: 'ambiguous', code: 'service_failed', hint: OVERLOADED },
  other: {
    read: 'retriable',
    write: 'ambiguous',
    code: 'bad_answer',
    hint: 'A proxy may be answering instead of the service; check service.base_url and proxies.',
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
  // A read that is aborted throws the reason of the abort instead.
  aborted: {
    read: 'retriable',
    write: 'ambiguous',
    code: 'aborted',
    hint: 'The call was aborted before the answer arrived.',
  },
  redirected: {
    read: 'fatal',
    write: 'ambiguous',
    code: 'redirected',
    hint: 'The service redirects in a loop; check service.base_url.',
  },
  bad_answer: {
    read: 'retriable',
    write: 'ambiguous',
    code: 'bad_answer',
    hint: 'A proxy may be answering instead of the service; check service.base_url and proxies.',
  },
  body_too_large: {
    read: 'skippable',
    write: 'ambiguous',
    code: 'body_too_large',
    hint: 'Request less at once, or raise the limit on bodies.',
  },
};

const AMBIGUOUS_HINT = 'The write may or may not have taken effect; read back before sending it again.';

/** The row of `status`. A success that was expected to fail also uses the row `other`. */
export function meaningOfStatus(status: number): Meaning {
  const byClass = STATUS_TABLE[`${Math.floor(status / 100)}xx`];
  return STATUS_TABLE[status] ?? byClass ?? (STATUS_TABLE.other as Meaning);
}

/** The error for a call of this kind. Every ambiguous outcome has the same code. */
export function readMeaning(
  meaning: Meaning,
  kind: 'read' | 'write',
): Pick<Meaning, 'code' | 'hint'> & { kind: ErrorKind } {
  const errorKind = meaning[kind];
  if (errorKind !== 'ambiguous') return { kind: errorKind, code: meaning.code, hint: meaning.hint };
  return { kind: errorKind, code: 'answer_unclear', hint: AMBIGUOUS_HINT };
}
