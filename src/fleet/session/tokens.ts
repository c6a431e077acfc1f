// Reads the tokens from the answer to a login or renewal, and their lifetime from the JWT claims.
import { decodeJwt } from 'jose/jwt/decode';
import { isJsonObject } from '../../core/json.ts';
import type { Redactor } from '../../core/text/redaction.ts';
import { documentOf } from '../answer.ts';
import type { WireAnswer } from '../transport/transport.ts';
import { TransportFault } from '../transport/transport-fault.ts';

export interface Tokens {
  access: string;
  /** A login returns one; a renewal may return a new one. */
  refresh: string | undefined;
}

export function readTokens(answer: WireAnswer): Tokens {
  const document = documentOf(answer);
  const holder = isJsonObject(document) && isJsonObject(document.data) ? document.data : document;
  const { access_token: access, refresh_token: refresh } = isJsonObject(holder) ? holder : {};
  if (typeof access !== 'string' || access === '') throw new TransportFault('bad_answer', 'no access token');
  return { access, refresh: typeof refresh === 'string' && refresh !== '' ? refresh : undefined };
}

/** Adds tokens to the redactor, except those it recognises by their shape: a long-lived process renews often. */
export function hideTokens({ access, refresh }: Tokens, redactor: Redactor): void {
  for (const token of [access, refresh]) {
    if (token !== undefined && redactor.redact(token).includes(token)) redactor.add(token);
  }
}

/**
 * Lifetime of a token from its receipt, ms; undefined if its claims do not say. Compares the token's own `exp` and `iat`,
 * so a wrong clock on this machine does not matter.
 */
export function lifeOf(access: string, nowMs: number): number | undefined {
  const { exp, iat } = claimsOf(access);
  if (typeof exp !== 'number') return undefined;
  const lifeMs = typeof iat === 'number' ? (exp - iat) * 1_000 : exp * 1_000 - nowMs;
  return lifeMs > 0 ? lifeMs : undefined;
}

function claimsOf(access: string): { exp?: unknown; iat?: unknown } {
  try {
    return decodeJwt(access);
  } catch {
    // Not a JWT: the token is used without a known lifetime.
    return {};
  }
}
