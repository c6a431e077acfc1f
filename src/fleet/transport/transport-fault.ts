// Names the failures below HTTP: one fault for every error code of Node and got. An unknown code, or any failure on an
// established connection, counts as a lost connection. That is the safe choice for a write, which may have arrived.

export type FaultName =
  /** No connection was established: nothing was sent. */
  | 'unreachable'
  /** No trusted connection was established: nothing was sent. */
  | 'tls'
  | 'timed_out'
  | 'connection_lost'
  | 'aborted'
  | 'redirected'
  | 'bad_answer'
  | 'body_too_large';

export class TransportFault extends Error {
  readonly fault: FaultName;
  /** The error code of Node or got, for the message; never a value. */
  readonly detail: string | undefined;

  constructor(fault: FaultName, detail?: string) {
    super(detail === undefined ? fault : `${fault} (${detail})`);
    this.name = 'TransportFault';
    this.fault = fault;
    this.detail = detail;
  }
}

const FAULT_BY_CODE: Readonly<Record<string, FaultName>> = {
  ECONNREFUSED: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ETIMEDOUT: 'timed_out',
  ECONNRESET: 'connection_lost',
  EPIPE: 'connection_lost',
  ERR_ABORTED: 'aborted',
  ABORT_ERR: 'aborted',
  ERR_TOO_MANY_REDIRECTS: 'redirected',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
  UNABLE_TO_GET_ISSUER_CERT: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
};

const FAULT_BY_PREFIX: ReadonlyArray<readonly [prefix: string, fault: FaultName]> = [
  ['CERT_', 'tls'],
  ['ERR_TLS_CERT_', 'tls'],
  // A body that cannot be decompressed, or a response that is not HTTP.
  ['Z_', 'bad_answer'],
  ['ERR_BROTLI', 'bad_answer'],
  ['ERR_ZSTD', 'bad_answer'],
  ['HPE_', 'bad_answer'],
];

/** TLS codes that may occur during the handshake or after it, unlike the codes of certificates. */
const TLS_AT_ANY_TIME = /^(EPROTO$|ERR_SSL_|ERR_TLS_)/;

/** Phases of got's timeouts before the first byte of the request. */
const PHASES_BEFORE_SENDING = ['lookup', 'connect', 'secureConnect'];

export interface FaultSigns {
  code?: string;
  syscall?: string;
  /** The phase in which a timeout occurred. */
  phase?: string;
  /** Whether the connection was established, including its TLS handshake; undefined if unknown. */
  connected?: boolean;
}

export function faultOf(signs: FaultSigns): FaultName {
  const fault = faultByCode(signs);
  // After the request was sent, a proxy may still break TLS, or a router may report the host as unreachable.
  if (signs.connected === true && (fault === 'tls' || fault === 'unreachable')) return 'connection_lost';
  if (signs.connected === false && (fault === 'timed_out' || fault === 'connection_lost')) return 'unreachable';
  return fault;
}

function faultByCode({ code = '', syscall, phase, connected }: FaultSigns): FaultName {
  if (phase !== undefined && PHASES_BEFORE_SENDING.includes(phase)) return 'unreachable';
  if (code === 'ETIMEDOUT' && syscall === 'connect') return 'unreachable';
  if (connected === false && TLS_AT_ANY_TIME.test(code)) return 'tls';
  const named = FAULT_BY_CODE[code];
  if (named !== undefined) return named;
  return FAULT_BY_PREFIX.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'connection_lost';
}
