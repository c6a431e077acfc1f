// The table of what each failure means: every status and every fault, for a read and for a write. A write that may have
// taken effect is `ambiguous`, never `retriable`.
import type { FaultName } from './transport-fault.ts';

export interface Meaning {
  read: 'fatal' | 'retriable' | 'skippable';
  write: Meaning['read'] | 'ambiguous';
  /** Error code, unless the outcome is ambiguous. */
  code: string;
  hint: string;
  /** Pauses all calls: `always`, or only if the answer has a Retry-After. */
  pause?: 'always' | 'if-asked';
}

/** The write had no effect, so it fails like a read. */
const both = (kind: Meaning['read'], code: string, hint: string): Meaning => ({ read: kind, write: kind, code, hint });

/** The write may have taken effect. */
const unclear = (read: Meaning['read'], code: string, hint: string): Meaning => ({
  read,
  write: 'ambiguous',
  code,
  hint,
});

const OVERLOADED = 'The service is overloaded or down; the call is retried at the next run.';
const REJECTED = 'The service does not accept this request; compare its fields with the records of the account.';
const MOVED = 'Set service.base_url to the address that the service redirects to, if you trust it.';
const NO_ACCESS = 'If a new token is rejected too, ask the service whether this account may make this call.';
const NOT_FOUND = 'The record was deleted at the service, or service.base_url lacks a part of its path.';
const PROXY = 'A proxy may be answering instead of the service; check service.base_url and proxies.';
const TLS = 'The certificate of the service is not trusted; check service.base_url and the clock of this machine.';

/** By status; a status without a row uses the row of its class. */
export const STATUS_TABLE: Readonly<Record<string, Meaning>> = {
  // A redirect may arrive after the write took effect.
  '3xx': unclear('fatal', 'redirected', MOVED),
  400: both('skippable', 'request_rejected', REJECTED),
  401: both('fatal', 'unauthorised', NO_ACCESS),
  403: both('fatal', 'forbidden', 'Ask the service to give this account access to the call, or disable the job.'),
  404: both('skippable', 'not_found', NOT_FOUND),
  408: unclear('retriable', 'timed_out', OVERLOADED),
  409: both('skippable', 'conflict', REJECTED),
  413: both('skippable', 'too_large', 'Request less at once.'),
  414: both('skippable', 'too_large', 'Request less at once.'),
  422: both('skippable', 'request_rejected', REJECTED),
  425: unclear('retriable', 'too_early', OVERLOADED),
  429: {
    ...both('retriable', 'throttled', 'Lower service.requests_per_minute if this happens often.'),
    pause: 'always',
  },
  '4xx': both('skippable', 'request_rejected', REJECTED),
  503: { ...unclear('retriable', 'service_failed', OVERLOADED), pause: 'if-asked' },
  '5xx': unclear('retriable', 'service_failed', OVERLOADED),
  other: unclear('retriable', 'bad_answer', PROXY),
};

export const FAULT_TABLE: Readonly<Record<FaultName, Meaning>> = {
  unreachable: both(
    'retriable',
    'service_unreachable',
    'Check service.base_url, the network and whether the service is up.',
  ),
  tls: both('fatal', 'tls', TLS),
  timed_out: unclear('retriable', 'timed_out', 'Raise service.timeout if the service needs longer.'),
  connection_lost: unclear('retriable', 'connection_lost', OVERLOADED),
  // A read that is aborted throws the reason of the abort instead.
  aborted: unclear('retriable', 'aborted', 'The call was aborted before the answer arrived.'),
  redirected: unclear('fatal', 'redirected', 'The service redirects in a loop; check service.base_url.'),
  bad_answer: unclear('retriable', 'bad_answer', PROXY),
  body_too_large: unclear('skippable', 'body_too_large', 'Request less at once, or raise the limit on bodies.'),
};

/** The codes of reads that may succeed later. */
export const PASSING_READS: readonly string[] = [STATUS_TABLE, FAULT_TABLE]
  .flatMap((table) => Object.values(table))
  .flatMap(({ read, code }) => (read === 'retriable' ? [code] : []));

/** The row of `status`. A success that was expected to fail also uses the row `other`. */
export function meaningOfStatus(status: number): Meaning {
  const byClass = STATUS_TABLE[`${Math.floor(status / 100)}xx`];
  return STATUS_TABLE[status] ?? byClass ?? (STATUS_TABLE.other as Meaning);
}
