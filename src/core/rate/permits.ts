// Where a limiter gets its permits: from a rate of this process alone, or from one that it shares with other processes.

import { Retriable } from '../errors.ts';
import type { Clock } from '../time/clock.ts';
import { type Asked, type Grant, newRate, takePermits } from './rate.ts';

export interface PermitSource {
  take(asked: Asked): Promise<Grant>;
}

/** A rate of this process alone, by its monotonic clock: setting the machine's clock does not change it. */
export function localPermits(clock: Clock): PermitSource {
  let state = newRate;
  return {
    async take(asked) {
      const taken = takePermits(state, asked, clock.monotonic());
      state = taken.state;
      return taken.grant;
    },
  };
}

/** An ask without an answer by then has failed; a later answer is not used. */
const ANSWER_MS = 10_000;

/** For a source that may be silent instead of failing, such as a database. */
export const withTimeout = (source: PermitSource, clock: Clock): PermitSource => ({
  async take(asked) {
    const answered = new AbortController();
    const silence = clock.sleep(ANSWER_MS, answered.signal).then(() => {
      throw unreachable(`The warehouse has not answered for ${ANSWER_MS / 1_000} s`);
    });
    try {
      return await Promise.race([source.take(asked), silence]);
    } finally {
      answered.abort();
    }
  },
});

export const unreachable = (message: string, cause?: unknown): Retriable =>
  new Retriable(message, {
    code: 'warehouse_unreachable',
    hint: 'Check the database of the warehouse and the network to it; `roadbook doctor` says more.',
    cause,
  });
