// Who may ask: the right Host on loopback (a foreign page that rebinds its name to 127.0.0.1 is refused), the
// bearer token for actions, and for all data once others can reach the address. Never a cookie, so that no
// foreign page can act with a user's rights.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { isLoopback } from '../config/status-section.ts';
import { ApiError } from './api-error.ts';
import type { RunningConfig } from './server-parts.ts';

type Running = () => RunningConfig;

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

export const tokenForReading =
  (host: string, running: Running): MiddlewareHandler =>
  async (c, next) => {
    if (!isLoopback(host)) demandToken(c, running);
    await next();
  };

export const tokenForActing =
  (running: Running): MiddlewareHandler =>
  async (c, next) => {
    demandToken(c, running);
    await next();
  };

function demandToken(c: Context, running: Running): void {
  const { token } = running().config.status;
  if (token === '') {
    throw new ApiError(
      403,
      'no_token_configured',
      'Actions are switched off: the configuration has no status.token',
      'Set ROADBOOK_STATUS_TOKEN, or status.token in the configuration.',
    );
  }
  const given = /^Bearer +(\S.*)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (given !== undefined && isSame(given, token)) return;
  throw new ApiError(
    401,
    given === undefined ? 'token_missing' : 'token_wrong',
    given === undefined ? 'This needs the bearer token' : 'The bearer token is not the right one',
    'Send `Authorization: Bearer …` with the value of status.token.',
  );
}

/** Takes the same time whatever differs. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
