// The tokens inside the answer of a login or renewal, and what their text tells about their life.
import { decodeJwt } from 'jose/jwt/decode';
import { isJsonObject } from '../../core/glossary.ts';
import type { Redactor } from '../../core/text/redaction.ts';
import { documentOf } from '../answer.ts';
import type { WireAnswer } from '../transport/transport.ts';
import { TransportFault } from '../transport/transport-fault.ts';

export interface Tokens {
  access: string;
  /** Login gives one; a renewal may give a new one. */
  refresh: string | undefined;
}

export function readTokens(answer: WireAnswer): Tokens {
  const document = documentOf(answer);
  const holder = isJsonObject(document) && isJsonObject(document.data) ? document.data : document;
  const { access_token: access, refresh_token: refresh } = isJsonObject(holder) ? holder : {};
  if (typeof access !== 'string' || access === '') throw new TransportFault('bad_answer', 'no access token');
  return { access, refresh: typeof refresh === 'string' && refresh !== '' ? refresh : undefined };
}

/** Makes tokens known to the redactor, save those it recognises by their shape: a long life renews often. */
export function hideTokens({ access, refresh }: Tokens, redactor: Redactor): void {
  for (const token of [access, refresh]) {
    if (token !== undefined && redactor.redact(token).includes(token)) redactor.add(token);
  }
}

/**
 * How long a token lives from when it is received, ms; undefined where its text does not tell. The token's own
 * two instants are compared with each other, so a wrong clock on this machine does not matter.
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
    // Not a JWT: it is used as it is.
    return {};
  }
}
