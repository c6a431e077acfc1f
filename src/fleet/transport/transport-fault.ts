// What can go wrong below HTTP, in one list: the name of the fault for every code that Node and got use.
// Whatever is not listed, and whatever happens on a connection that was made, counts as lost on the way, which is the
// careful reading for a write.

export type FaultName =
  /** No connection was made: nothing was sent. */
  | 'unreachable'
  /** No trusted connection was made: nothing was sent. */
  | 'tls'
  | 'timed_out'
  | 'connection_lost'
  | 'aborted'
  | 'redirected'
  | 'bad_answer'
  | 'body_too_large';

export class TransportFault extends Error {
  readonly fault: FaultName;
  /** Node's or got's code, for the message; never a value. */
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
  // A body that does not decompress, or a head that is no HTTP.
  ['Z_', 'bad_answer'],
  ['ERR_BROTLI', 'bad_answer'],
  ['ERR_ZSTD', 'bad_answer'],
  ['HPE_', 'bad_answer'],
];

/** Codes of TLS that occur in the handshake and after it alike, unlike those of certificates. */
const TLS_AT_ANY_TIME = /^(EPROTO$|ERR_SSL_|ERR_TLS_)/;

/** Phases of got's timeouts that lie before the first byte of the request. */
const PHASES_BEFORE_SENDING = ['lookup', 'connect', 'secureConnect'];

export interface FaultSigns {
  code?: string;
  syscall?: string;
  /** The phase that a timeout ended. */
  phase?: string;
  /** Whether the connection had been made, its TLS handshake included; undefined where that cannot be told. */
  connected?: boolean;
}

export function faultOf(signs: FaultSigns): FaultName {
  const fault = faultByCode(signs);
  // A proxy may break TLS, or a router report the host as unreachable, after the request went out.
  if (signs.connected === true && (fault === 'tls' || fault === 'unreachable')) return 'connection_lost';
  if (signs.connected === false && (fault === 'timed_out' || fault === 'connection_lost'))
    return 'unreachable';
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
