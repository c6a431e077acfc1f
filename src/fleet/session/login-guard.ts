// Keeps refused logins few, so that an account is never locked by us: after three refusals of the same
// credentials no login is sent until they change or a cool-down has passed, then one for each cool-down.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Fatal } from '../../core/errors.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import type { RefusedLogins, SessionFacts, SessionMemory } from './session-memory.ts';

export const MOST_REFUSED_LOGINS = 3;
export const REFUSED_COOL_DOWN_MS = 30 * 60_000;

const hash = promisify<string, Buffer, number, Buffer>(scrypt);
const HASH_BYTES = 32;

export interface LoginGuard {
  /** Throws where a login would be one too many. */
  check(): Promise<void>;
  refused(): Promise<void>;
  accepted(): Promise<void>;
}

export function createLoginGuard(
  credentials: readonly string[],
  memory: SessionMemory,
  clock: Clock,
): LoginGuard {
  const secret = JSON.stringify(credentials);

  /** The refusals of these very credentials; those of others do not count. */
  async function mineOf({ refused }: SessionFacts = {}): Promise<RefusedLogins | undefined> {
    if (refused === undefined) return undefined;
    const fingerprint = await hash(secret, Buffer.from(refused.salt, 'hex'), HASH_BYTES);
    const stored = Buffer.from(refused.fingerprint, 'hex');
    const same = stored.length === HASH_BYTES && timingSafeEqual(fingerprint, stored);
    return same ? refused : undefined;
  }

  async function firstRefusal(): Promise<Omit<RefusedLogins, 'count' | 'lastAt'>> {
    const salt = randomBytes(16);
    const fingerprint = await hash(secret, salt, HASH_BYTES);
    return { salt: salt.toString('hex'), fingerprint: fingerprint.toString('hex') };
  }

  return {
    async check() {
      const mine = await mineOf(await memory.read());
      if (mine === undefined || mine.count < MOST_REFUSED_LOGINS) return;
      const sinceMs = clock.now() - Date.parse(mine.lastAt);
      // A last refusal in the future comes of a clock that was set back: it holds nothing up.
      if (sinceMs < 0 || sinceMs >= REFUSED_COOL_DOWN_MS) return;
      throw refusedTooOften(mine.count, clock.now() + REFUSED_COOL_DOWN_MS - sinceMs);
    },
    async refused() {
      await memory.update(async (facts) => {
        const who = (await mineOf(facts)) ?? { ...(await firstRefusal()), count: 0 };
        return { ...facts, refused: { ...who, count: who.count + 1, lastAt: isoInstant(clock.now()) } };
      });
    },
    async accepted() {
      if ((await memory.read())?.refused === undefined) return;
      await memory.update(async ({ refused: _cleared, ...rest } = {}) => rest);
    },
  };
}

function refusedTooOften(count: number, untilMs: number): Fatal {
  return new Fatal(`The service refused these credentials ${count} times: no login was sent`, {
    code: 'login_refused',
    hint: `Correct service.username, parent_username, password and realm; the next try with these is after ${isoInstant(untilMs)}.`,
  });
}
