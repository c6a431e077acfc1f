// The client of the service: any endpoint's call, validated before anything leaves, with a token, within the
// limiter. A read is tried again; a write leaves once, whatever is answered: any status may come after it was done.

import { Fatal } from '../core/errors.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';
import type { Log } from '../core/log.ts';
import type { Limiter } from '../core/rate/limiter.ts';
import { DEFAULT_RETRY, type RetryPolicy, retry } from '../core/retry/retry.ts';
import { createRetryBudget } from '../core/retry/retry-budget.ts';
import type { Redactor } from '../core/text/redaction.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Endpoint } from './endpoint.ts';
import type { CollectionForm, RenewalMode } from './readings.ts';
import { createLogin } from './session/login.ts';
import { createLoginGuard } from './session/login-guard.ts';
import { createRenewal } from './session/renewal.ts';
import { createSession, type Session, type SessionState } from './session/session.ts';
import { createSessionMemory, createSteadyMemory, type SessionMemory } from './session/session-memory.ts';
import { createExchange, type Exchange, type ExchangeContext } from './transport/exchange.ts';
import { faultFailure } from './transport/failures.ts';
import type { Transport, TransportOptions, WireAnswer, WireRequest } from './transport/transport.ts';
import { TransportFault } from './transport/transport-fault.ts';

export interface FleetSettings {
  baseUrl: string;
  username: string;
  parentUsername: string;
  password: string;
  realm: string;
  renewal: 'auto' | RenewalMode;
  collections: CollectionForm;
  /** For one whole exchange. */
  timeoutMs: number;
  /** Largest body that is read, decompressed. */
  maxBodyMb: number;
}

export interface FleetDependencies {
  clock: Clock;
  limiter: Limiter;
  log: Log;
  redactor: Redactor;
  /** In [0, 1), for the jitter; Math.random unless told. */
  random?: () => number;
  /** For the life of the process unless told. */
  memory?: SessionMemory;
  /** DEFAULT_RETRY unless told. */
  retry?: RetryPolicy;
  /** The way to the service; HTTP by got unless told. */
  connect?: (options: TransportOptions) => Transport;
}

export interface CallContext {
  signal?: AbortSignal;
  /** One of PRIORITY; default: live. */
  priority?: number;
  /** Told of every HTTP attempt, login and renewal included. */
  onRequest?: () => void;
  /** Asked right before each attempt of the call itself leaves; what it throws keeps it from leaving. */
  beforeSend?: () => void;
  /** Told of every attempt that is made again. */
  onRetry?: () => void;
}

export interface Fleet {
  /** Sends one call of any endpoint. Lists come back as raw records: validation is per record and the caller's step. */
  call<Q, A>(endpoint: Endpoint<Q, A>, request: Q, context?: CallContext): Promise<A>;
  /** Bytes of the address that the call would be sent to, for callers that bound it; validates as `call` does. */
  urlBytes<Q, A>(endpoint: Endpoint<Q, A>, request: Q): number;
  session(): SessionState;
  /** How far this machine's clock is ahead of the service's; undefined before the first answer. */
  clockSkewMs(): number | undefined;
  /** Ends calls in flight; later calls fail. */
  close(): void;
}

const UNAUTHORISED = 401;
const BYTES_PER_MB = 1024 * 1024;

export function createFleet(settings: FleetSettings, dependencies: FleetDependencies): Fleet {
  const {
    clock,
    random = Math.random,
    retry: policy = DEFAULT_RETRY,
    connect = lazyTransport,
  } = dependencies;
  const baseUrl = checkedBaseUrl(settings.baseUrl);
  const exchange = createExchange({
    ...dependencies,
    transport: connect({
      baseUrl,
      timeoutMs: settings.timeoutMs,
      maxBodyBytes: settings.maxBodyMb * BYTES_PER_MB,
    }),
  });
  const session = openSession(settings, dependencies, exchange);
  const budget = createRetryBudget();

  async function attempt<Q, A>(
    endpoint: Endpoint<Q, A>,
    wire: WireRequest,
    context: CallContext,
  ): Promise<A> {
    const answer = await sendWithToken(endpoint.kind, wire, { session, exchange }, context);
    if (answer.status < 200 || answer.status > 299) throw exchange.refusal(endpoint.kind, wire, answer);
    if (answer.body.length > HEAVY_BYTES) await yieldToEventLoop();
    try {
      return endpoint.read(answer);
    } catch (error) {
      if (!(error instanceof TransportFault)) throw error;
      throw faultFailure({ kind: endpoint.kind, method: wire.method, path: wire.path }, error);
    }
  }

  const persist = <T>(work: () => Promise<T>, context: CallContext): Promise<T> =>
    retry(work, {
      clock,
      random,
      policy,
      signal: context.signal,
      mayRetry: budget.take,
      onRetry: () => context.onRetry?.(),
    });

  return {
    async call(endpoint, request, context = {}) {
      const wire = endpoint.prepare(request, settings.collections);
      budget.earn();
      if (endpoint.kind === 'read') return persist(() => attempt(endpoint, wire, context), context);
      // Nothing of the write has left while the token is asked for.
      if (!session.isReady()) await persist(() => session.token(context), context);
      return attempt(endpoint, wire, context);
    },
    urlBytes(endpoint, request) {
      const { path, query } = endpoint.prepare(request, settings.collections);
      return Buffer.byteLength(`${baseUrl}${path}?${query}`);
    },
    session: session.state,
    clockSkewMs: exchange.clockSkewMs,
    close: exchange.close,
  };
}

/** An answer that takes milliseconds to read. */
const HEAVY_BYTES = 64 * 1_024;

/** Bounds the repeats where tokens end faster than slots come free. */
const MOST_SENDS = 5;

/**
 * The token is got before the slot is asked for: a login needs a slot itself. A 401 has the token replaced and
 * a read repeated; once more, by login, where a merely renewed token is refused before anyone could use it.
 * A token that ended while the request waited for its slot was refused for that alone, and does not count.
 */
async function sendWithToken(
  kind: 'read' | 'write',
  wire: WireRequest,
  { session, exchange }: { session: Session; exchange: Exchange },
  context: ExchangeContext,
): Promise<WireAnswer> {
  let token = await session.token(context);
  const bearer = () => {
    token = session.newest() ?? token;
    return token.access;
  };
  let refusals = 0;
  for (let sends = 1; ; sends++) {
    const answer = await exchange.send(kind, wire, bearer, context);
    if (answer.status !== UNAUTHORISED) {
      token.proven = true;
      return answer;
    }
    if (kind === 'write') {
      // Whoever fails to get a new token here is told by the next call, which needs one too.
      await session.replace(token, context).catch(() => undefined);
      return answer;
    }
    if (session.isFresh(token)) refusals += 1;
    const isBeyondHelp = refusals === 2 && (token.by === 'login' || token.proven);
    if (isBeyondHelp || refusals > 2 || sends === MOST_SENDS) return answer;
    token = await session.replace(token, context);
  }
}

function openSession(settings: FleetSettings, dependencies: FleetDependencies, exchange: Exchange): Session {
  const { clock, log, redactor } = dependencies;
  const { username, parentUsername, password, realm, renewal: setting } = settings;
  redactor.add(password);
  const memory = createSteadyMemory(dependencies.memory ?? createSessionMemory(), log);
  const guard = createLoginGuard([username, parentUsername, password, realm], memory, clock);
  const renew = createRenewal({ exchange, memory, log, setting });
  const logIn = createLogin(exchange, guard, { username, parentUsername, password, realm });
  return createSession({ renew, logIn, clock, log, redactor });
}

function checkedBaseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/(?<!\/)\/+$/, '');
  throw new Fatal('The address of the service is not an http or https URL', {
    code: 'base_url_invalid',
    hint: 'Set service.base_url to the address of the service, with https://.',
  });
}

/**
 * The transport, loaded with its first call: the HTTP client takes a tenth of a second and 30 MB, and a command that only
 * reads the warehouse calls nobody.
 */
function lazyTransport(options: TransportOptions): Transport {
  let opened: Promise<Transport> | undefined;
  return {
    async send(request, how) {
      opened ??= import('./transport/transport.ts').then(({ createTransport }) => createTransport(options));
      return (await opened).send(request, how);
    },
    close() {
      opened?.then(
        (transport) => transport.close(),
        () => undefined,
      );
    },
  };
}
