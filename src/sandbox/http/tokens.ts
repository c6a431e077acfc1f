// Access and refresh tokens: real HS256 JWTs. They expire by the client's clock, not by the simulated one: accelerated, they
// would end before a client could use them. The secret comes from the seed, so the same steps
// give the same tokens, and a restarted sandbox still accepts the tokens that it issued.
import { createHash } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { memoize } from '../../core/memoize.ts';

export type Renewal = 'refresh-bearer' | 'access-bearer' | 'body' | 'any' | 'none';
type TokenUse = 'access' | 'refresh';

interface TokenSettings {
  seed: number;
  accessTokenTtlMs: number;
  refreshTokenTtlMs: number;
}

const MOST_CACHED = 1_000;

export type Tokens = ReturnType<typeof createTokens>;

export function createTokens({ seed, accessTokenTtlMs, refreshTokenTtlMs }: TokenSettings, wallNow: () => number) {
  const secret = createHash('sha256').update(`roadbook sandbox ${seed}`).digest();
  const claimsOf = memoize(MOST_CACHED, (token: string) => signedClaims(token, secret));
  const expiredUpTo = { access: 0, refresh: 0 };
  const revoked = new Set<string>();
  let issued = 0;

  return {
    async issue(use: TokenUse): Promise<string> {
      const ttlMs = use === 'access' ? accessTokenTtlMs : refreshTokenTtlMs;
      const at = wallNow();
      issued += 1;
      return await new SignJWT({ use })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject('demo')
        .setJti(String(issued))
        .setIssuedAt(Math.floor(at / 1_000))
        .setExpirationTime(Math.floor((at + ttlMs) / 1_000))
        .sign(secret);
    },
    /** True for a token of this use that is signed, not expired and not revoked. */
    async accepts(use: TokenUse, token: string): Promise<boolean> {
      const { use: ownUse, jti, exp = 0 } = await claimsOf(token);
      if (ownUse !== use || revoked.has(token)) return false;
      return Number(jti) > expiredUpTo[use] && wallNow() < exp * 1_000;
    },
    /** True for an access token, expired or not, whose session can still be renewed. */
    async acceptsForRenewal(token: string): Promise<boolean> {
      const { use, jti, iat = 0 } = await claimsOf(token);
      if (use !== 'access' || revoked.has(token)) return false;
      return Number(jti) > expiredUpTo.refresh && wallNow() < iat * 1_000 + refreshTokenTtlMs;
    },
    revoke(token: string): void {
      revoked.add(token);
    },
    /** Every token of this use that was issued so far counts as expired. */
    expireAll(use: TokenUse): void {
      expiredUpTo[use] = issued;
    },
  };
}

/** The claims of a correctly signed token, otherwise none. The caller checks the times against `wallNow`. */
async function signedClaims(token: string, secret: Uint8Array): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, secret, { algorithms: ['HS256'], currentDate: new Date(0) })).payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return {};
    throw error;
  }
}
