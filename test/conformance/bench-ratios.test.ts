// A sample of the benchmark: a ratio that falls by more than a third below the recorded one fails. No time on the clock
// is looked at; both sides are measured in CPU time, and the best of several tries counts.
import { describe, expect, it } from 'vitest';
import { checkRatio, copyRatio, loadRatio, pullRatio } from '../bench/ratios.ts';

const LEAST_SHARE = 2 / 3;
const TRIES = 3;

/** As `node test/bench/ratios.ts` printed them; record anew where the product has become faster. */
const RECORDED: readonly [string, () => Promise<number>, number][] = [
  ['loading rows into SQLite, beside the bare statement', loadRatio, 0.9],
  ['loading rows into PostgreSQL, beside a bare COPY', copyRatio, 0.78],
  ['checking and mapping records, beside parsing alone', checkRatio, 0.45],
  ['a whole pull, beside parsing alone', pullRatio, 0.3],
];

describe('the cost of', () => {
  it.each(RECORDED)('%s has not grown by half', async (_what, measure, recorded) => {
    let best = 0;
    for (let tries = 0; tries < TRIES && best < recorded * LEAST_SHARE; tries++)
      best = Math.max(best, await measure());
    expect(best).toBeGreaterThanOrEqual(recorded * LEAST_SHARE);
  });
});
