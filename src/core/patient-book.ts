// A book of a shared rate that answers or fails: a database may be silent instead of refusing.
import type { Clock } from './clock.ts';
import { Retriable } from './errors.ts';
import type { RateBook } from './shared-rate.ts';

/** A draw that has no answer by then counts as failed. */
const ANSWER_MS = 10_000;

export const patientBook = (book: RateBook, clock: Clock): RateBook => ({
  async draw(asked) {
    const ended = new AbortController();
    const silence = clock.sleep(ANSWER_MS, ended.signal).then(() => {
      throw noAnswer();
    });
    try {
      return await Promise.race([book.draw(asked), silence]);
    } finally {
      ended.abort();
    }
  },
});

const noAnswer = (): Retriable =>
  new Retriable(`The warehouse has not answered for ${ANSWER_MS / 1_000} s`, {
    code: 'warehouse_unreachable',
    hint: 'Check the database of the warehouse and the network to it.',
  });
