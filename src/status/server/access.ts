// Access control of the status server.
// - On loopback the Host header must be a local name. This stops DNS rebinding: a foreign page whose name resolves to
//   127.0.0.1.
// - Actions need the bearer token. If a token is configured, all data needs it too, because a proxy on this machine may
//   let other people in.
// - The token is never a cookie, so no foreign page can act with a user's rights.
import { createHash, timingSafeEqual } from 'node:crypto';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import { isLoopback } from '../../config/sections/status.ts';
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

export interface TokenAuth {
  /** For data: checks the token if one is configured. The configuration requires one on a non-loopback address. */
  reading: MiddlewareHandler;
  /** For actions: always checks the token. Without a configured token, actions are off. */
  acting: MiddlewareHandler;
}

/** Failures of an address that are answered without delay. */
const FREE_FAILURES = 3;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 4_000;
/**
 * Failures of one address that wait at the same time; further ones get a 429. This bounds the guesses to 300 a minute, but not
 * from an address that has used the right token: behind a proxy, which all share, only a long token protects.
 */
const MOST_WAITING = 20;
/** Failures of an address are forgotten this long after the last one. */
const FORGOTTEN_AFTER_MS = 60_000;
const MOST_ADDRESSES = 1_000;

interface Failures {
  count: number;
  waiting: number;
  lastAt: number;
}

/**
 * The answers to wrong tokens from one address are delayed more and more. While too many of them wait, further tokens of
 * that address are not compared, so that parallel guesses gain nothing. The right token never waits, and an address that
 * has used it is always compared: behind a proxy all users share one address, and nobody may lock them out.
 */
export function createTokenAuth({
  host,
  running,
  clock,
}: { host: string } & Pick<StatusServerDependencies, 'running' | 'clock'>): TokenAuth {
  const byAddress = new Map<string, Failures>();
  /** The addresses that have used the token, the latest last. Another token starts anew. */
  let users = { token: '', addresses: new Set<string>() };

  function addUser(address: string, token: string): void {
    if (users.token !== token) users = { token, addresses: new Set() };
    users.addresses.delete(address);
    users.addresses.add(address);
    dropOldest(users.addresses);
  }

  const isUser = (address: string, token: string): boolean => users.token === token && users.addresses.has(address);

  const isFlooding = (address: string): boolean => (byAddress.get(address)?.waiting ?? 0) >= MOST_WAITING;

  function failuresOf(address: string): Failures {
    const now = clock.monotonic();
    const known = byAddress.get(address);
    const isKept = known !== undefined && (known.waiting > 0 || now - known.lastAt < FORGOTTEN_AFTER_MS);
    const failures = isKept ? known : { count: 0, waiting: 0, lastAt: now };
    // Delete and insert keeps the map in the order of the last failure, so the first key is the oldest.
    byAddress.delete(address);
    byAddress.set(address, failures);
    dropOldest(byAddress);
    return failures;
  }

  async function slowDown(address: string): Promise<void> {
    const failures = failuresOf(address);
    failures.count += 1;
    failures.lastAt = clock.monotonic();
    const beyond = failures.count - FREE_FAILURES - 1;
    if (beyond < 0) return;
    if (isFlooding(address)) throw tooManyAttempts();
    failures.waiting += 1;
    try {
      await clock.sleep(Math.min(FIRST_DELAY_MS * 2 ** beyond, LONGEST_DELAY_MS));
    } finally {
      failures.waiting -= 1;
    }
  }

  async function demandToken(c: Context, token: string): Promise<void> {
    const given = /^Bearer +(\S.*)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    if (given !== undefined) {
      const address = getConnInfo(c).remote.address ?? '';
      if (isFlooding(address) && !isUser(address, token)) throw tooManyAttempts();
      if (isSame(given, token)) return addUser(address, token);
      await slowDown(address);
    }
    throw new ApiError(
      401,
      given === undefined ? 'token_missing' : 'token_wrong',
      given === undefined ? 'This request needs the bearer token' : 'The bearer token is wrong',
      'Send `Authorization: Bearer …` with the value of status.token.',
    );
  }

  return {
    async reading(c, next) {
      const { token } = running().config.status;
      if (token !== '') await demandToken(c, token);
      else if (!isLoopback(host)) throw noTokenConfigured();
      await next();
    },
    async acting(c, next) {
      const { token } = running().config.status;
      if (token === '') throw noTokenConfigured();
      await demandToken(c, token);
      await next();
    },
  };
}

/** Deletes the first key, the oldest, if there are too many. */
function dropOldest(addresses: Map<string, unknown> | Set<string>): void {
  const [oldest] = addresses.keys();
  if (addresses.size > MOST_ADDRESSES && oldest !== undefined) addresses.delete(oldest);
}

const noTokenConfigured = (): ApiError =>
  new ApiError(
    403,
    'no_token_configured',
    'Actions are off: the configuration has no status.token',
    'Set status.token in the configuration, best as a reference to ROADBOOK_STATUS_TOKEN in .env, as config/roadbook.yaml has it.',
  );

const tooManyAttempts = (): ApiError =>
  new ApiError(429, 'too_many_attempts', 'Too many wrong tokens from this address', 'Wait a minute.');

/** Compares in constant time. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
