// Sources of permits for a limiter: a rate of this process alone, or a rate shared with other processes.

import { Retriable } from '../errors.ts';
import type { Clock } from '../time/clock.ts';
import { type Grant, newRate, type PermitRequest, takePermits } from './rate.ts';

export interface PermitSource {
  take(asked: PermitRequest): Promise<Grant>;
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

/** A request for permits without an answer after this time has failed; a later answer is ignored. */
const ANSWER_MS = 10_000;

/** For a source that may hang instead of failing, such as a database. */
export const withTimeout = (source: PermitSource, clock: Clock): PermitSource => ({
  async take(asked) {
    const answered = new AbortController();
    const timeout = clock.sleep(ANSWER_MS, answered.signal).then(() => {
      throw unreachable(`The warehouse has not answered for ${ANSWER_MS / 1_000} s`);
    });
    try {
      return await Promise.race([source.take(asked), timeout]);
    } finally {
      answered.abort();
    }
  },
});

export const unreachable = (message: string, cause?: unknown): Retriable =>
  new Retriable(message, {
    code: 'warehouse_unreachable',
    hint: 'Check the database of the warehouse and the network to it; `roadbook doctor` shows details.',
    cause,
  });
