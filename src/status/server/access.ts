// Access control of the status server.
// - On loopback the Host header must be a local name. This stops DNS rebinding: a foreign page whose name resolves to
//   127.0.0.1.
// - Actions need the bearer token. If a token is configured, all data needs it too, because a proxy on this machine may
//   let other people in.
// - The token is never a cookie, so no foreign page can act with a user's rights.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler, Next } from 'hono';
import { isGuessable, isLoopback } from '../../config/sections/status.ts';
import { ApiError } from './api-error.ts';
import type { StatusServerDependencies } from './dependencies.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

export const securityHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value);
  if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'no-store');
};

export const rightHost =
  (host: string): MiddlewareHandler =>
  async (c, next) => {
    if (isLoopback(host) && !isLoopback(hostnameOf(c.req.header('host') ?? ''))) {
      throw new ApiError(
        403,
        'wrong_host',
        'This server accepts only local host names',
        'Use http://localhost or http://127.0.0.1.',
      );
    }
    await next();
  };

/** Removes the port and the brackets of an IPv6 address. */
const hostnameOf = (header: string): string =>
  header
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();

/** Wrong tokens of all addresses are answered at this pace, after the first few: behind a proxy all users have one address. */
const PACE_MS = 200;
const FREE_MS = 5 * PACE_MS;
/** If a wrong token would wait longer, it gets a 429 at once. */
const LONGEST_DELAY_MS = 4_000;

/**
 * The answers to wrong tokens are delayed, the right token never waits. During a flood, a token that can be guessed is not
 * compared: a 429 at once would show as well as a 401 that the guess was wrong. A long token is always compared, because no
 * number of guesses finds it, and nobody may lock its users out.
 */
export function createTokenAuth({
  host,
  running,
  clock,
}: { host: string } & Pick<StatusServerDependencies, 'running' | 'clock'>) {
  /** On the monotonic clock: when all wrong tokens so far are answered, at the pace. */
  let busyUntil = 0;

  const delayMs = (): number => busyUntil - clock.monotonic() - FREE_MS;
  const isFlooded = (): boolean => delayMs() >= LONGEST_DELAY_MS;

  async function slowDown(): Promise<void> {
    if (isFlooded()) throw tooManyAttempts();
    busyUntil = Math.max(busyUntil, clock.monotonic()) + PACE_MS;
    if (delayMs() > 0) await clock.sleep(delayMs());
  }

  async function demandToken(c: Context, token: string): Promise<void> {
    const given = /^Bearer +(\S.*)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    if (given !== undefined) {
      if (isGuessable(token) && isFlooded()) throw tooManyAttempts();
      if (isSame(given, token)) return;
      await slowDown();
    }
    throw new ApiError(
      401,
      given === undefined ? 'token_missing' : 'token_wrong',
      given === undefined ? 'This request needs the bearer token' : 'The bearer token is wrong',
      'Send `Authorization: Bearer …` with the value of status.token.',
    );
  }

  return {
    /** For data: checks the token if one is configured. The configuration requires one on a non-loopback address. */
    async reading(c: Context, next: Next): Promise<void> {
      const { token } = running().config.status;
      if (token !== '') await demandToken(c, token);
      else if (!isLoopback(host)) throw noTokenConfigured('Reading from other machines is');
      await next();
    },
    /** For actions: always checks the token. Without a configured token, actions are off. */
    async acting(c: Context, next: Next): Promise<void> {
      const { token } = running().config.status;
      if (token === '') throw noTokenConfigured('Actions are');
      await demandToken(c, token);
      await next();
    },
  };
}

const noTokenConfigured = (what: string): ApiError =>
  new ApiError(
    403,
    'no_token_configured',
    `${what} off: the configuration has no status.token`,
    'Set status.token in the configuration, preferably as a reference to ROADBOOK_STATUS_TOKEN in .env, as config/roadbook.yaml has it.',
  );

const tooManyAttempts = (): ApiError =>
  new ApiError(429, 'too_many_attempts', 'Too many wrong tokens', 'Wait a minute.');

/** Compares in constant time. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
