// A sample of the benchmark: a ratio that falls by more than a third below the recorded one fails. Only what was measured
// in the same run is compared: CPU time, or for one of them the clock; the best of several tries counts.
import { afterAll, describe, expect, it } from 'vitest';
import { pullRatios } from '../bench/pull-ratios.ts';
import { checkRatio, copyRatio, loadRatio } from '../bench/ratios.ts';
import { stopPostgres } from '../support/postgres.ts';

const LEAST_SHARE = 2 / 3;
const TRIES = 3;

const { ratios, close } = pullRatios();
afterAll(async () => {
  await close();
  await stopPostgres();
});

/** As `node test/bench/ratios.ts` printed them; record anew where the product has become faster. */
const RECORDED: readonly [string, () => Promise<number>, number][] = [
  ['loading rows into SQLite, beside the bare statement', loadRatio, 0.82],
  ['loading rows into PostgreSQL, beside a bare COPY', copyRatio, 0.7],
  ['checking and mapping records, beside parsing alone', checkRatio, 0.44],
  ['a whole pull by the clock, beside a script', ratios.script, 1],
  ['a whole pull, beside parsing alone', ratios.parse, 0.37],
  ['a pull of what is known, beside the first one', ratios.again, 1.08],
  ['a whole pull into PostgreSQL, its server included, beside parsing alone', ratios.postgres, 0.22],
];

describe('the cost of', () => {
  it.each(RECORDED)('%s has not grown by half', async (_what, measure, recorded) => {
    let best = 0;
    for (let tries = 0; tries < TRIES && best < recorded * LEAST_SHARE; tries++)
      best = Math.max(best, await measure());
    expect(best).toBeGreaterThanOrEqual(recorded * LEAST_SHARE);
  });
});
