// One session for all calls: one token, renewed ahead of its end and after a 401, by one renewal or login at a
// time whoever asks. Tokens and password are known to the redactor before they are used.

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
  /** Due for renewal, and over, in ms since the epoch; both far away where the token does not tell. */
  renewAt: number;
  expiresAt: number;
  /** Some call was accepted with it. */
  proven: boolean;
  /** Some call was answered 401 with it. */
  refused: boolean;
}

export interface SessionState {
  state: 'none' | 'active' | 'refused';
  expires_at: string | null;
}

export interface Session {
  token(context: ExchangeContext): Promise<Token>;
  /** `token` would answer without asking the service. */
  isReady(): boolean;
  /** The newest token, without asking for one. */
  newest(): Token | undefined;
  /** Whether the token should still be accepted, by its own word. */
  isFresh(token: Token): boolean;
  /** Another token in place of one that was refused with 401. */
  replace(refused: Token, context: ExchangeContext): Promise<Token>;
  state(): SessionState;
}

export interface SessionDependencies {
  renew: Renew;
  logIn: LogIn;
  clock: Clock;
  log: Log;
  redactor: Redactor;
}

/** Renewed this long before the end, or a fifth of its life where that is shorter. */
const LONGEST_MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.2;
const FAR_AWAY = Number.POSITIVE_INFINITY;

export function createSession({ renew, logIn, clock, log, redactor }: SessionDependencies): Session {
  let current: Token | undefined;
  let flight: Promise<Token> | undefined;
  let refused = false;

  function keep(tokens: Tokens, by: Token['by']): Token {
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
      refused: false,
    };
    refused = false;
    return current;
  }

  const isOver = (token: Token): boolean => token.refused || clock.now() >= token.expiresAt;

  async function obtain(context: ExchangeContext): Promise<Token> {
    const old = current;
    // A renewed token that was refused before it was ever accepted says that renewing does not help.
    const mayRenew = old !== undefined && !(old.by === 'renewal' && old.refused && !old.proven);
    const renewed = mayRenew ? await renew(old, context) : undefined;
    if (renewed !== undefined) return keep(renewed, 'renewal');
    // What cannot be used or renewed any more is not tried again; ahead of its end it still serves.
    if (old !== undefined && isOver(old)) current = undefined;
    try {
      return keep(await logIn(context), 'login');
    } catch (error) {
      refused = error instanceof RoadbookError && error.code === 'login_refused';
      throw error;
    }
  }

  /** The one that asks first lends its context, save its signal: others wait for the same token. */
  function obtainOnce(context: ExchangeContext): Promise<Token> {
    flight ??= obtain({ onRequest: context.onRequest }).finally(() => {
      flight = undefined;
    });
    return untilAborted(flight, context.signal);
  }

  async function renewAhead(token: Token, context: ExchangeContext): Promise<Token> {
    try {
      return await obtainOnce(context);
    } catch (error) {
      context.signal?.throwIfAborted();
      token.renewAt = token.expiresAt;
      log.warn({ event: 'renewal_failed', err: error }, 'token not renewed ahead of its end');
      return token;
    }
  }

  const isReady = (token = current): token is Token =>
    token !== undefined && !isOver(token) && clock.now() < token.renewAt;

  async function usable(context: ExchangeContext): Promise<Token> {
    const token = current;
    if (isReady(token)) return token;
    return token === undefined || isOver(token) ? obtainOnce(context) : renewAhead(token, context);
  }

  return {
    token: usable,
    isReady: () => isReady(),
    newest: () => current,
    async replace(token, context) {
      // Another call may have had it replaced already; then the mark on the old token changes nothing.
      token.refused = true;
      return usable(context);
    },
    isFresh: (token) => clock.now() < token.expiresAt,
    state() {
      if (current === undefined || isOver(current)) {
        return { state: refused ? 'refused' : 'none', expires_at: null };
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
