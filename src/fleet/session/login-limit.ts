// Limits rejected logins, so that Roadbook never locks an account. After three rejections of the same credentials no login
// is sent until the credentials change or a cool-down has passed; then one login per cool-down is allowed. Once a rejection
// is known, a login is counted before it is sent, in the write that checks the limit, so that several daemons share it; if
// its process dies, it stays counted. Before that no login is counted ahead: daemons that start together would take each
// other for rejected.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Fatal } from '../../core/errors.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import type { RejectedLogins, SessionFacts, SessionMemory } from './session-memory.ts';

export const MOST_REJECTED_LOGINS = 3;
export const LOGIN_COOL_DOWN_MS = 30 * 60_000;

const hash = promisify<string, Buffer, number, Buffer>(scrypt);
const HASH_BYTES = 32;

export type LoginLimit = ReturnType<typeof createLoginLimit>;
export type LoginAttempt = Awaited<ReturnType<LoginLimit['begin']>>;

export function createLoginLimit(credentials: readonly string[], memory: SessionMemory, clock: Clock) {
  const secret = JSON.stringify(credentials);

  /** The rejections of these credentials; those of other credentials do not count. */
  async function ownRejections({ refused: rejected }: SessionFacts = {}): Promise<RejectedLogins | undefined> {
    if (rejected === undefined) return undefined;
    const fingerprint = await hash(secret, Buffer.from(rejected.salt, 'hex'), HASH_BYTES);
    const stored = Buffer.from(rejected.fingerprint, 'hex');
    const same = stored.length === HASH_BYTES && timingSafeEqual(fingerprint, stored);
    return same ? rejected : undefined;
  }

  async function newFingerprint(): Promise<Omit<RejectedLogins, 'count' | 'lastAt'>> {
    const salt = randomBytes(16);
    const fingerprint = await hash(secret, salt, HASH_BYTES);
    return { salt: salt.toString('hex'), fingerprint: fingerprint.toString('hex') };
  }

  /** When the next login may be sent; undefined if it may be sent now. */
  function blockedUntil({ count, lastAt }: RejectedLogins): number | undefined {
    const untilMs = Date.parse(lastAt) + LOGIN_COOL_DOWN_MS;
    // If the clock was set back, the last rejection lies in the future. It must not block logins.
    const isCoolingDown = clock.now() >= Date.parse(lastAt) && clock.now() < untilMs;
    return count >= MOST_REJECTED_LOGINS && isCoolingDown ? untilMs : undefined;
  }

  const countOne = (facts: SessionFacts | undefined, known: Omit<RejectedLogins, 'lastAt'>): SessionFacts => ({
    ...facts,
    refused: { ...known, count: known.count + 1, lastAt: isoInstant(clock.now()) },
  });

  const giveBack = (before: RejectedLogins): Promise<unknown> =>
    memory.update(async (facts) => {
      const known = await ownRejections(facts);
      if (known === undefined) return facts ?? {};
      const isLast = known.count === before.count + 1;
      return { ...facts, refused: isLast ? before : { ...known, count: known.count - 1 } };
    });

  return {
    /** Throws if another login could lock the account. */
    async begin() {
      let before: RejectedLogins | undefined;
      let untilMs: number | undefined;
      // Most logins follow no rejection: they need no write.
      if ((await memory.read())?.refused !== undefined) {
        await memory.update(async (facts) => {
          before = await ownRejections(facts);
          untilMs = before && blockedUntil(before);
          return before === undefined || untilMs !== undefined ? (facts ?? {}) : countOne(facts, before);
        });
      }
      if (before !== undefined && untilMs !== undefined) throw rejectedTooOften(before.count, untilMs);
      const counted = before;
      return {
        async countRejection(): Promise<void> {
          if (counted !== undefined) return;
          await memory.update(async (facts) =>
            countOne(facts, (await ownRejections(facts)) ?? { ...(await newFingerprint()), count: 0 }),
          );
        },
        /** For a login without an answer about the credentials. */
        async giveBack(): Promise<void> {
          if (counted !== undefined) await giveBack(counted);
        },
      };
    },
    async clearRejections(): Promise<void> {
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
