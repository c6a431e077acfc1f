// Access and refresh tokens: real HS256 JWTs on the sandbox's clock. The secret comes from the seed, so the same steps
// give the same tokens, and a restarted sandbox still accepts the tokens that it issued.
import { createHash } from 'node:crypto';
import { decodeJwt, errors, jwtVerify, SignJWT } from 'jose';
import type { SandboxClock } from '../sandbox-clock.ts';

export type Renewal = 'refresh-bearer' | 'access-bearer' | 'body' | 'any' | 'none';
export type TokenUse = 'access' | 'refresh';

export interface TokenOptions {
  seed: number;
  clock: SandboxClock;
  accessTokenTtlMs: number;
  refreshTokenTtlMs: number;
}

export interface Tokens {
  issue(use: TokenUse): Promise<string>;
  /** True for a token of this use that is signed, not expired and not revoked. */
  accepts(use: TokenUse, token: string): Promise<boolean>;
  /** True for an access token, expired or not, whose session can still be renewed. */
  acceptsForRenewal(token: string): Promise<boolean>;
  revoke(token: string): void;
  /** Every token of this use that was issued so far counts as expired. */
  expireAll(use: TokenUse): void;
}

interface Claims {
  use: TokenUse;
  number: number;
  issuedAt: number;
  expiresAt: number;
}

const MOST_CACHED = 1_000;

export function createTokens({ seed, clock, accessTokenTtlMs, refreshTokenTtlMs }: TokenOptions): Tokens {
  const secret = createHash('sha256').update(`roadbook sandbox ${seed}`).digest();
  const claimsOf = createVerifier(secret);
  const expiredUpTo = { access: 0, refresh: 0 };
  const revoked = new Set<string>();
  let issued = 0;

  return {
    async issue(use) {
      const ttlMs = use === 'access' ? accessTokenTtlMs : refreshTokenTtlMs;
      const now = clock.now();
      issued += 1;
      return await new SignJWT({ use })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject('demo')
        .setJti(String(issued))
        .setIssuedAt(Math.floor(now / 1_000))
        .setExpirationTime(Math.floor((now + ttlMs) / 1_000))
        .sign(secret);
    },
    async accepts(use, token) {
      const claims = await claimsOf(token);
      if (claims === undefined || claims.use !== use || revoked.has(token)) return false;
      return claims.number > expiredUpTo[use] && clock.now() < claims.expiresAt;
    },
    async acceptsForRenewal(token) {
      const claims = await claimsOf(token);
      if (claims === undefined || claims.use !== 'access' || revoked.has(token)) return false;
      return claims.number > expiredUpTo.refresh && clock.now() < claims.issuedAt + refreshTokenTtlMs;
    },
    revoke: (token) => void revoked.add(token),
    expireAll(use) {
      expiredUpTo[use] = issued;
    },
  };
}

/** Returns the claims of a correctly signed token and caches them. */
function createVerifier(secret: Uint8Array): (token: string) => Promise<Claims | undefined> {
  const verified = new Map<string, Claims>();
  return async (token) => {
    const known = verified.get(token);
    if (known !== undefined) return known;
    if (!(await isSigned(token, secret))) return undefined;
    const payload = decodeJwt(token);
    const claims: Claims = {
      use: payload.use as TokenUse,
      number: Number(payload.jti),
      issuedAt: (payload.iat ?? 0) * 1_000,
      expiresAt: (payload.exp ?? 0) * 1_000,
    };
    if (verified.size >= MOST_CACHED) verified.clear();
    verified.set(token, claims);
    return claims;
  };
}

/** Checks only the signature; the caller checks the times against the sandbox's clock. */
async function isSigned(token: string, secret: Uint8Array): Promise<boolean> {
  try {
    await jwtVerify(token, secret, { algorithms: ['HS256'], currentDate: new Date(0) });
    return true;
  } catch (error) {
    if (error instanceof errors.JOSEError) return false;
    throw error;
  }
}
