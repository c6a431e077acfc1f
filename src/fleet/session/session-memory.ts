// What a session remembers across restarts: the renewal mode that works, and how often the credentials were rejected.
// Tokens are never stored, and credentials only as a salted, slow hash.
import type { Log } from '../../core/log.ts';
import type { RenewalMode } from '../interpretations.ts';

export interface SessionFacts {
  /** The mode that worked last; only if service.renewal is `auto`. */
  renewal?: RenewalMode;
  /** Stored under this name since 0.1.0. */
  refused?: RejectedLogins;
}

export interface RejectedLogins {
  /** scrypt of the four credentials with `salt`, hex. */
  fingerprint: string;
  salt: string;
  count: number;
  /** UTC instant of the last rejection. */
  lastAt: string;
}

export interface SessionMemory {
  read(): Promise<SessionFacts | undefined>;
  /** Atomic, even if several processes share the memory. Returns the new facts. */
  update(change: (facts: SessionFacts | undefined) => Promise<SessionFacts>): Promise<SessionFacts>;
}

/** Keeps a session alive if its memory fails: facts that could not be stored stay in this process, with a warning. */
export function createResilientMemory(memory: SessionMemory, log: Log): SessionMemory {
  let last: SessionFacts | undefined;
  let unsaved = false;
  return {
    async read() {
      if (unsaved) return last;
      try {
        last = await memory.read();
      } catch (error) {
        log.warn({ event: 'session_memory_failed', err: error }, 'session facts could not be read');
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
        log.warn({ event: 'session_memory_failed', err: error }, 'session facts could not be stored');
      }
      return last;
    },
  };
}
