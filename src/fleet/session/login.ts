// Logs in with the four credentials. A refusal is counted and final; a failure that says nothing about the
// credentials is neither.
import { Fatal, Retriable, type RoadbookError, Skippable } from '../../core/errors.ts';
import { PRIORITY } from '../../core/rate/limiter.ts';
import { login } from '../endpoints/login.ts';
import type { Exchange, ExchangeContext } from '../transport/exchange.ts';
import { faultFailure } from '../transport/failures.ts';
import type { WireAnswer, WireRequest } from '../transport/transport.ts';
import { TransportFault } from '../transport/transport-fault.ts';
import type { LoginGuard } from './login-guard.ts';
import type { Tokens } from './tokens.ts';

export interface Credentials {
  username: string;
  parentUsername: string;
  password: string;
  realm: string;
}

export type LogIn = (context: ExchangeContext) => Promise<Tokens>;

const REFUSALS = [400, 401, 403, 422];

export function createLogin(exchange: Exchange, guard: LoginGuard, credentials: Credentials): LogIn {
  const { username, parentUsername, password, realm } = credentials;
  return async (context) => {
    await guard.check();
    const request = login.prepare({ username, parent_username: parentUsername, password, realm }, 'json');
    const answer = await exchange
      .send('read', request, () => undefined, { ...context, priority: PRIORITY.session })
      .catch(rethrowForAll);
    if (REFUSALS.includes(answer.status)) {
      await guard.refused();
      throw refusedError(answer.status);
    }
    const tokens = readTokens(exchange, request, answer);
    await guard.accepted();
    return tokens;
  };
}

function readTokens(exchange: Exchange, request: WireRequest, answer: WireAnswer): Tokens {
  if (answer.status < 200 || answer.status > 299) throw failureOf(exchange, request, answer);
  try {
    return login.read(answer);
  } catch (error) {
    if (!(error instanceof TransportFault)) throw error;
    throw faultFailure({ kind: 'read', method: request.method, path: request.path }, error);
  }
}

function refusedError(status: number): Fatal {
  return new Fatal(`The service refused the login (POST ${login.path} answered ${status})`, {
    code: 'login_refused',
    hint: 'Check service.username, parent_username, password and realm.',
  });
}

/** What trying again cannot help says that there is no login at this address. */
function failureOf(exchange: Exchange, request: WireRequest, answer: WireAnswer): Error {
  const failure = exchange.refusal('read', request, answer);
  if (failure instanceof Retriable) return failure;
  return unavailable(`it answered ${answer.status}`, failure);
}

/** An answer that is no answer to a login concerns every call, not the one thing that asked for a token. */
function rethrowForAll(error: unknown): never {
  throw error instanceof Skippable ? unavailable('its answer is larger than the cap', error) : error;
}

const unavailable = (why: string, { cause }: RoadbookError): Fatal =>
  new Fatal(`The service has no login at POST ${login.path} (${why})`, {
    code: 'login_unavailable',
    hint: 'Check service.base_url.',
    cause,
  });
