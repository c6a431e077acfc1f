// One session and one token for all calls. The token is renewed before it expires and after a 401, with one renewal or
// login at a time however many calls wait. The redactor learns the tokens and the password before they are used.

import { RoadbookError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Redactor } from '../../core/text/redaction.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import type { ExchangeContext } from '../transport/exchange.ts';
import type { LogIn } from './login.ts';
import type { Renew } from './renewal.ts';
import { hideTokens, lifeOf, type Tokens } from './tokens.ts';

export interface Token extends Tokens {
  by: 'login' | 'renewal';
  /** When to renew the token and when it expires, in ms since the epoch; both infinite if the token does not say. */
  renewAt: number;
  expiresAt: number;
  /** The service has accepted a call with this token. */
  proven: boolean;
  /** The service has answered 401 to a call with this token. */
  rejected: boolean;
}

export interface SessionState {
  state: 'none' | 'active' | 'rejected';
  expires_at: string | null;
}

export type Session = ReturnType<typeof createSession>;

export interface SessionDependencies {
  renew: Renew;
  logIn: LogIn;
  clock: Clock;
  log: Log;
  redactor: Redactor;
}

/** A token is renewed this long before it expires, or a fifth of its life if that is shorter. */
const LONGEST_MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.2;
const FAR_AWAY = Number.POSITIVE_INFINITY;

export function createSession({ renew, logIn, clock, log, redactor }: SessionDependencies) {
  let current: Token | undefined;
  let pending: Promise<Token> | undefined;
  let isLoginRejected = false;

  function setCurrent(tokens: Tokens, by: Token['by']): Token {
    hideTokens(tokens, redactor);
    const now = clock.now();
    const lifeMs = lifeOf(tokens.access, now) ?? FAR_AWAY;
    const marginMs = Math.min(LONGEST_MARGIN_MS, lifeMs * MARGIN_SHARE);
    const refresh = tokens.refresh ?? (by === 'renewal' ? current?.refresh : undefined);
    current = {
      ...tokens,
      refresh,
      by,
      expiresAt: now + lifeMs,
      renewAt: now + lifeMs - marginMs,
      proven: false,
      rejected: false,
    };
    isLoginRejected = false;
    return current;
  }

  const isUnusable = (token: Token): boolean => token.rejected || clock.now() >= token.expiresAt;

  async function obtain(context: ExchangeContext): Promise<Token> {
    const old = current;
    // The service rejected a renewed token that it never accepted: renewing again does not help.
    const mayRenew = old !== undefined && !(old.by === 'renewal' && old.rejected && !old.proven);
    const renewed = mayRenew ? await renew(old, context) : undefined;
    if (renewed !== undefined) return setCurrent(renewed, 'renewal');
    // A token that has not expired stays in use even if its renewal failed.
    if (old !== undefined && isUnusable(old)) current = undefined;
    try {
      return setCurrent(await logIn(context), 'login');
    } catch (error) {
      isLoginRejected = error instanceof RoadbookError && error.code === 'login_refused';
      throw error;
    }
  }

  /** Uses the first caller's context without its signal: other callers wait for the same token. */
  function obtainOnce(context: ExchangeContext): Promise<Token> {
    pending ??= obtain({ onRequest: context.onRequest }).finally(() => {
      pending = undefined;
    });
    return untilAborted(pending, context.signal);
  }

  async function renewAhead(token: Token, context: ExchangeContext): Promise<Token> {
    try {
      return await obtainOnce(context);
    } catch (error) {
      context.signal?.throwIfAborted();
      token.renewAt = token.expiresAt;
      log.warn({ event: 'renewal_failed', err: error }, 'token could not be renewed before its expiry');
      return token;
    }
  }

  const isReady = (token = current): token is Token =>
    token !== undefined && !isUnusable(token) && clock.now() < token.renewAt;

  async function usableToken(context: ExchangeContext): Promise<Token> {
    const token = current;
    if (isReady(token)) return token;
    return token === undefined || isUnusable(token) ? obtainOnce(context) : renewAhead(token, context);
  }

  return {
    token: usableToken,
    /** Whether `token` would return without a call to the service. */
    isReady: () => isReady(),
    /** The newest token; never calls the service. */
    newest: () => current,
    logInAgain: async (context: ExchangeContext) => setCurrent(await logIn(context), 'login'),
    /** Takes tokens that were renewed outside of this session. */
    use: (tokens: Tokens) => setCurrent(tokens, 'renewal'),
    /** Replaces a token that got a 401. */
    async replace(token: Token, context: ExchangeContext): Promise<Token> {
      // If another call has replaced the token already, marking the old one changes nothing.
      token.rejected = true;
      return usableToken(context);
    },
    /** Whether the token has not expired yet, by its own expiry. */
    isFresh: (token: Token) => clock.now() < token.expiresAt,
    state(): SessionState {
      if (current === undefined || isUnusable(current)) {
        return { state: isLoginRejected ? 'rejected' : 'none', expires_at: null };
      }
      const { expiresAt } = current;
      return { state: 'active', expires_at: expiresAt === FAR_AWAY ? null : isoInstant(expiresAt) };
    },
  };
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
