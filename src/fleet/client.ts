// The client of the service. It validates each call before sending it, adds the token and waits for the rate limiter.
// A read is retried. A write is sent once, whatever the answer: any status may arrive after the write took effect.

import { Fatal } from '../core/errors.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';
import { lazyResource } from '../core/lazy-resource.ts';
import type { Log } from '../core/log.ts';
import type { Limiter } from '../core/rate/limiter.ts';
import { DEFAULT_RETRY, type RetryPolicy, retry } from '../core/retry/retry.ts';
import { createRetryBudgets } from '../core/retry/retry-budget.ts';
import type { Redactor } from '../core/text/redaction.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Endpoint } from './endpoint.ts';
import { type CollectionForm, RENEWAL_TRIALS, type RenewalMode } from './interpretations.ts';
import { type Credentials, createLogin } from './session/login.ts';
import { createLoginLimit } from './session/login-limit.ts';
import { createRenewal, tryRenewal } from './session/renewal.ts';
import { createSession, type Session } from './session/session.ts';
import { createResilientMemory, type SessionMemory } from './session/session-memory.ts';
import { type CallRequest, createExchange, type Exchange, type ExchangeContext } from './transport/exchange.ts';
import type { Transport, TransportOptions, WireAnswer } from './transport/transport.ts';

export interface FleetSettings extends Credentials, Pick<TransportOptions, 'baseUrl' | 'timeoutMs'> {
  renewal: 'auto' | RenewalMode;
  collections: CollectionForm;
  /** Largest body that is read, after decompression. */
  maxBodyMb: number;
}

export interface FleetDependencies {
  clock: Clock;
  limiter: Limiter;
  log: Log;
  redactor: Redactor;
  /** Gives a number in [0, 1) for the jitter; default: Math.random. */
  random?: () => number;
  memory: SessionMemory;
  /** Default: DEFAULT_RETRY. */
  retry?: RetryPolicy;
  /** Opens the transport; default: HTTP with got. */
  connect?: (options: TransportOptions) => Transport;
}

export interface CallContext extends ExchangeContext {
  /** Called before each retry. */
  onRetry?: () => void;
  /** The run that makes the call; its calls share a retry budget. Default: calls of no run share one. */
  runId?: string;
}

export type Fleet = ReturnType<typeof createFleet>;

const UNAUTHORISED = 401;
const BYTES_PER_MB = 1024 * 1024;

export function createFleet(settings: FleetSettings, dependencies: FleetDependencies) {
  const { clock, random = Math.random, retry: policy = DEFAULT_RETRY, connect = lazyTransport } = dependencies;
  const { timeoutMs, maxBodyMb, collections } = settings;
  const baseUrl = checkedBaseUrl(settings.baseUrl);
  const exchange = createExchange({
    ...dependencies,
    transport: connect({ baseUrl, timeoutMs, maxBodyBytes: maxBodyMb * BYTES_PER_MB }),
  });
  const session = openSession(settings, dependencies, exchange);
  const budgetOf = createRetryBudgets();

  async function attempt<Q, A>(endpoint: Endpoint<Q, A>, request: CallRequest, context: CallContext): Promise<A> {
    const answer = await sendWithToken(request, { session, exchange }, context);
    if (answer.body.length > LARGE_ANSWER_BYTES) await yieldToEventLoop();
    return exchange.read(request, answer, endpoint.read);
  }

  const withRetries = <T>(work: () => Promise<T>, { signal, onRetry, runId = '' }: CallContext): Promise<T> =>
    retry(work, { clock, random, policy, signal, mayRetry: budgetOf(runId).take, onRetry });

  return {
    /** Sends one call of any endpoint. Lists are returned as raw records: the caller validates each record. */
    async call<Q, A>(endpoint: Endpoint<Q, A>, request: Q, context: CallContext = {}): Promise<A> {
      const wire = endpoint.prepare(request, collections);
      budgetOf(context.runId ?? '').earn();
      if (endpoint.kind === 'read') return withRetries(() => attempt(endpoint, wire, context), context);
      // Getting the token may be retried: nothing of the write has been sent yet.
      if (!session.isReady()) await withRetries(() => session.token(context), context);
      return attempt(endpoint, wire, context);
    },
    /** Length of the call's URL in bytes, for callers that limit it. Validates the request as `call` does. */
    urlBytes<Q, A>(endpoint: Endpoint<Q, A>, request: Q): number {
      const { path, query } = endpoint.prepare(request, collections);
      return Buffer.byteLength(`${baseUrl}${path}?${query}`);
    },
    session: session.state,
    /** Tries every form of renewal after a new login and keeps the newest token. Undefined if one got no clear answer. */
    async workingRenewals(context: ExchangeContext = {}): Promise<RenewalMode[] | undefined> {
      const works: RenewalMode[] = [];
      // The rejection of a refresh token that has expired would say nothing about its form.
      await session.logInAgain(context);
      for (const mode of RENEWAL_TRIALS) {
        const trial = await tryRenewal(exchange, mode, await session.token(context), context);
        if (trial === 'rejected') continue;
        if (typeof trial !== 'object') return undefined;
        works.push(mode);
        session.use(trial);
      }
      return works;
    },
    clockSkewMs: exchange.clockSkewMs,
    /** Aborts the calls in flight; later calls fail. */
    close: exchange.close,
  };
}

/** Parsing a larger answer takes milliseconds. */
const LARGE_ANSWER_BYTES = 64 * 1_024;

/** Limits the repeats if tokens expire faster than slots become free. */
const MOST_SENDS = 5;

/**
 * Gets the token before the slot, since a login needs a slot itself. After a 401 the token is replaced, and a read is
 * repeated. A read is repeated once more, with a new login, if the service rejects a renewed token that no call has used
 * yet. If a token expired while the request waited for its slot, its rejection does not count.
 */
async function sendWithToken(
  request: CallRequest,
  { session, exchange }: { session: Session; exchange: Exchange },
  context: ExchangeContext,
): Promise<WireAnswer> {
  let token = await session.token(context);
  const bearer = () => {
    token = session.newest() ?? token;
    return token.access;
  };
  let rejections = 0;
  for (let sends = 1; ; sends++) {
    const answer = await exchange.send(request, bearer, context);
    if (answer.status !== UNAUTHORISED) {
      token.proven = true;
      return answer;
    }
    if (request.kind === 'write') {
      // A failure here is ignored: the next call needs a token too and reports the failure.
      await session.replace(token, context).catch(() => undefined);
      return answer;
    }
    if (session.isFresh(token)) rejections += 1;
    const isFinal = rejections === 2 && (token.by === 'login' || token.proven);
    if (isFinal || rejections > 2 || sends === MOST_SENDS) return answer;
    token = await session.replace(token, context);
  }
}

function openSession(settings: FleetSettings, dependencies: FleetDependencies, exchange: Exchange): Session {
  const { clock, log, redactor } = dependencies;
  const { username, parentUsername, password, realm, renewal: setting } = settings;
  redactor.add(password);
  const memory = createResilientMemory(dependencies.memory, log);
  const limit = createLoginLimit([username, parentUsername, password, realm], memory, clock);
  const renew = createRenewal({ exchange, memory, log, setting });
  const logIn = createLogin(exchange, limit, { username, parentUsername, password, realm });
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
 * Loads the transport with its first call: the HTTP client costs a tenth of a second and 30 MB, and a command that only
 * reads the warehouse does not need it.
 */
function lazyTransport(options: TransportOptions): Transport {
  const transport = lazyResource(
    async () => (await import('./transport/transport.ts')).createTransport(options),
    (opened) => opened.close(),
  );
  return {
    send: async (request, how) => (await transport.open()).send(request, how),
    close: () => void transport.close(),
  };
}
