// What a session should remember across restarts: which renewal works, and how often these credentials were
// refused. Never a token, and the credentials only as a salted, slow hash.
import type { Log } from '../core/log.ts';
import type { RenewalMode } from './readings.ts';

export interface SessionFacts {
  /** The mode that worked last, where service.renewal is `auto`. */
  renewal?: RenewalMode;
  refused?: RefusedLogins;
}

export interface RefusedLogins {
  /** scrypt of the four credentials with `salt`, hex. */
  fingerprint: string;
  salt: string;
  count: number;
  /** UTC instant of the last refusal. */
  lastAt: string;
}

export interface SessionMemory {
  read(): Promise<SessionFacts | undefined>;
  write(facts: SessionFacts): Promise<void>;
}

/** Remembers for the life of the process. */
export function createSessionMemory(): SessionMemory {
  let facts: SessionFacts | undefined;
  return {
    read: async () => facts,
    write: async (next) => {
      facts = next;
    },
  };
}

/** A memory that fails does not end a session: what it could not take is kept here, and said. */
export function createSteadyMemory(memory: SessionMemory, log: Log): SessionMemory {
  let last: SessionFacts | undefined;
  let unsaved = false;
  return {
    async read() {
      if (unsaved) return last;
      try {
        last = await memory.read();
      } catch (error) {
        log.warn({ event: 'session_memory_failed', err: error }, 'session facts not read');
      }
      return last;
    },
    async write(facts) {
      last = facts;
      try {
        await memory.write(facts);
        unsaved = false;
      } catch (error) {
        unsaved = true;
        log.warn({ event: 'session_memory_failed', err: error }, 'session facts not kept');
      }
    },
  };
}
