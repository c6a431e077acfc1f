// What a session should remember across restarts: which renewal works, and how often these credentials were
// refused. Never a token, and the credentials only as a salted, slow hash.
import type { Log } from '../../core/log.ts';
import type { RenewalMode } from '../readings.ts';

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
  /** As one step, also where several processes share the memory; gives what is remembered now. */
  update(change: (facts: SessionFacts | undefined) => Promise<SessionFacts>): Promise<SessionFacts>;
}

/** Remembers for the life of the process. */
export function createSessionMemory(): SessionMemory {
  let facts: SessionFacts | undefined;
  return {
    read: async () => facts,
    update: async (change) => {
      facts = await change(facts);
      return facts;
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
    async update(change) {
      try {
        last = await memory.update((stored) => change(unsaved ? { ...stored, ...last } : stored));
        unsaved = false;
      } catch (error) {
        last = await change(last);
        unsaved = true;
        log.warn({ event: 'session_memory_failed', err: error }, 'session facts not kept');
      }
      return last;
    },
  };
}
