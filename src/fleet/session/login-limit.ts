// Limits rejected logins, so that Roadbook never locks an account. After three rejections of the same credentials no login
// is sent until the credentials change or a cool-down has passed; then one login per cool-down is allowed.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Fatal } from '../../core/errors.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import type { RejectedLogins, SessionFacts, SessionMemory } from './session-memory.ts';

export const MOST_REJECTED_LOGINS = 3;
export const LOGIN_COOL_DOWN_MS = 30 * 60_000;

const hash = promisify<string, Buffer, number, Buffer>(scrypt);
const HASH_BYTES = 32;

export interface LoginLimit {
  /** Throws if another login could lock the account. */
  check(): Promise<void>;
  countRejection(): Promise<void>;
  clearRejections(): Promise<void>;
}

export function createLoginLimit(credentials: readonly string[], memory: SessionMemory, clock: Clock): LoginLimit {
  const secret = JSON.stringify(credentials);

  /** The rejections of these credentials; those of other credentials do not count. */
  async function ownRejections({ refused }: SessionFacts = {}): Promise<RejectedLogins | undefined> {
    if (refused === undefined) return undefined;
    const fingerprint = await hash(secret, Buffer.from(refused.salt, 'hex'), HASH_BYTES);
    const stored = Buffer.from(refused.fingerprint, 'hex');
    const same = stored.length === HASH_BYTES && timingSafeEqual(fingerprint, stored);
    return same ? refused : undefined;
  }

  async function newFingerprint(): Promise<Omit<RejectedLogins, 'count' | 'lastAt'>> {
    const salt = randomBytes(16);
    const fingerprint = await hash(secret, salt, HASH_BYTES);
    return { salt: salt.toString('hex'), fingerprint: fingerprint.toString('hex') };
  }

  return {
    async check() {
      const rejections = await ownRejections(await memory.read());
      if (rejections === undefined || rejections.count < MOST_REJECTED_LOGINS) return;
      const sinceMs = clock.now() - Date.parse(rejections.lastAt);
      // If the clock was set back, the last rejection lies in the future. It must not block logins.
      if (sinceMs < 0 || sinceMs >= LOGIN_COOL_DOWN_MS) return;
      throw rejectedTooOften(rejections.count, clock.now() + LOGIN_COOL_DOWN_MS - sinceMs);
    },
    async countRejection() {
      await memory.update(async (facts) => {
        const known = (await ownRejections(facts)) ?? { ...(await newFingerprint()), count: 0 };
        return { ...facts, refused: { ...known, count: known.count + 1, lastAt: isoInstant(clock.now()) } };
      });
    },
    async clearRejections() {
      if ((await memory.read())?.refused === undefined) return;
      await memory.update(async ({ refused: _cleared, ...rest } = {}) => rest);
    },
  };
}

function rejectedTooOften(count: number, untilMs: number): Fatal {
  return new Fatal(`The service rejected these credentials ${count} times; no login was sent`, {
    code: 'login_refused',
    hint: `Correct service.username, parent_username, password and realm; with the same values the next login is sent after ${isoInstant(untilMs)}.`,
  });
}
