// Who may ask: the right Host on loopback (a foreign page that rebinds its name to 127.0.0.1 is refused), and the
// bearer token for actions and, where one is configured, for all data: a proxy on this machine may let others in. Never a
// cookie, so that no foreign page can act with a user's rights.
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
        'This server answers to names of this machine only',
        'Use http://localhost or http://127.0.0.1.',
      );
    }
    await next();
  };

/** Without port and brackets. */
const hostnameOf = (header: string): string =>
  header
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();

export interface TokenGuards {
  /** For data: only where a token is configured. The configuration demands one on an address that others can reach. */
  reading: MiddlewareHandler;
  /** For actions: without a configured token there are none. */
  acting: MiddlewareHandler;
}

/** An address may fail so often before its failures are answered late. */
const FREE_FAILURES = 3;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 4_000;
/** So many failures of an address wait at once; others are answered by 429. */
const MOST_WAITING = 20;
/** Failures are forgotten so long after the last of them. */
const FORGOTTEN_AFTER_MS = 60_000;
const MOST_ADDRESSES = 1_000;

interface Failures {
  count: number;
  waiting: number;
  lastAt: number;
}

/**
 * Wrong tokens of one address are answered ever later. The right token never waits: behind a proxy all people share one
 * address, and nobody may lock them out.
 */
export function createTokenGuards({
  host,
  running,
  clock,
}: { host: string } & Pick<StatusServerDependencies, 'running' | 'clock'>): TokenGuards {
  const byAddress = new Map<string, Failures>();

  function failuresOf(address: string): Failures {
    const now = clock.monotonic();
    const known = byAddress.get(address);
    const isKept = known !== undefined && (known.waiting > 0 || now - known.lastAt < FORGOTTEN_AFTER_MS);
    const failures = isKept ? known : { count: 0, waiting: 0, lastAt: now };
    // Set anew, so that the first in the map is the one that failed longest ago.
    byAddress.delete(address);
    byAddress.set(address, failures);
    const [oldest] = byAddress.keys();
    if (byAddress.size > MOST_ADDRESSES && oldest !== undefined) byAddress.delete(oldest);
    return failures;
  }

  async function slowDown(address: string): Promise<void> {
    const failures = failuresOf(address);
    failures.count += 1;
    failures.lastAt = clock.monotonic();
    const beyond = failures.count - FREE_FAILURES - 1;
    if (beyond < 0) return;
    if (failures.waiting >= MOST_WAITING) throw tooManyAttempts();
    failures.waiting += 1;
    try {
      await clock.sleep(Math.min(FIRST_DELAY_MS * 2 ** beyond, LONGEST_DELAY_MS));
    } finally {
      failures.waiting -= 1;
    }
  }

  async function demandToken(c: Context, token: string): Promise<void> {
    const given = /^Bearer +(\S.*)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    if (given !== undefined && isSame(given, token)) return;
    if (given !== undefined) await slowDown(getConnInfo(c).remote.address ?? '');
    throw new ApiError(
      401,
      given === undefined ? 'token_missing' : 'token_wrong',
      given === undefined ? 'This needs the bearer token' : 'The bearer token is not the right one',
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

const noTokenConfigured = (): ApiError =>
  new ApiError(
    403,
    'no_token_configured',
    'Actions are switched off: the configuration has no status.token',
    'Set ROADBOOK_STATUS_TOKEN, or status.token in the configuration.',
  );

const tooManyAttempts = (): ApiError =>
  new ApiError(429, 'too_many_attempts', 'Too many wrong tokens came from this address', 'Wait a minute.');

/** Takes the same time whatever differs. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
