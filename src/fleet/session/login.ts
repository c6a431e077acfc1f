// Logs in with the four credentials. A rejection is counted and fatal. A failure that says nothing about the credentials
// is not counted.
import { Fatal, type RoadbookError, Skippable } from '../../core/errors.ts';
import { PRIORITY } from '../../core/rate/rate.ts';
import { login } from '../endpoints/login.ts';
import type { CallRequest, Exchange, ExchangeContext } from '../transport/exchange.ts';
import type { WireAnswer } from '../transport/transport.ts';
import type { LoginLimit } from './login-limit.ts';
import type { Tokens } from './tokens.ts';

export interface Credentials {
  username: string;
  parentUsername: string;
  password: string;
  realm: string;
}

export type LogIn = (context: ExchangeContext) => Promise<Tokens>;

const REJECTIONS = [400, 401, 403, 422];

export function createLogin(exchange: Exchange, limit: LoginLimit, credentials: Credentials): LogIn {
  const { username, parentUsername, password, realm } = credentials;

  /** The tokens, or the error of a rejection. Throws if the answer says nothing about the credentials. */
  async function ask(context: ExchangeContext): Promise<Tokens | Fatal> {
    const request = login.prepare({ username, parent_username: parentUsername, password, realm }, 'json');
    const answer = await exchange
      .send(request, () => undefined, { ...context, priority: PRIORITY.session })
      .catch(rethrowForAll);
    return REJECTIONS.includes(answer.status) ? rejectedError(answer.status) : readTokens(exchange, request, answer);
  }

  return async (context) => {
    const attempt = await limit.begin();
    const answered = await ask(context).catch(async (error: unknown) => {
      await attempt.giveBack();
      throw error;
    });
    if (answered instanceof Fatal) {
      await attempt.countRejection();
      throw answered;
    }
    await limit.clearRejections();
    return answered;
  };
}

/** If a retry cannot help, there is no login at this address. */
function readTokens(exchange: Exchange, request: CallRequest, answer: WireAnswer): Tokens {
  try {
    return exchange.read(request, answer, login.read);
  } catch (error) {
    const isFinal = error instanceof Fatal || error instanceof Skippable;
    throw isFinal ? unavailable(`it answered ${answer.status}`, error) : error;
  }
}

function rejectedError(status: number): Fatal {
  return new Fatal(`The service rejected the login (POST ${login.path} answered ${status})`, {
    code: 'login_refused',
    hint: 'Check service.username, parent_username, password and realm.',
  });
}

/** A failed login affects every call. As a Skippable it would skip only the item whose call needed the token. */
function rethrowForAll(error: unknown): never {
  throw error instanceof Skippable ? unavailable('its answer is larger than the limit', error) : error;
}

const unavailable = (why: string, { cause }: RoadbookError): Fatal =>
  new Fatal(`The service has no login at POST ${login.path} (${why})`, {
    code: 'login_unavailable',
    hint: 'Check service.base_url.',
    cause,
  });
