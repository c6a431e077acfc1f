// A sample of the benchmark in full pulls: a ratio that falls by more than a third below the recorded one fails. Two
// are measured in wall-clock time, so no other test runs at the same time (vitest.config.ts).
import { afterAll, describe, it } from 'vitest';
import { pullRatios } from '../bench/pull/pull-ratios.ts';
import { stopPostgres } from '../support/databases/postgres.ts';
import { holdRatio } from '../support/measure/hold-ratio.ts';

const { ratios, close } = pullRatios();
afterAll(async () => {
  await close();
  await stopPostgres();
});

/** As printed by `node test/bench/ratios.ts`. Record them again when the product becomes faster. */
const RECORDED: readonly [string, () => Promise<number>, number][] = [
  ['by the clock, beside a script', ratios.script, 1],
  ['beside parsing alone', ratios.parse, 0.37],
  ['of what is known, beside the first one', ratios.again, 1.08],
  ['into PostgreSQL, by the clock, beside a script', ratios.scriptPostgres, 1.1],
  ['into PostgreSQL, its server included, beside parsing alone', ratios.postgres, 0.22],
];

describe('the cost of a pull', () => {
  it.each(RECORDED)('%s has not grown by half', (_what, measure, recorded) => holdRatio(measure, recorded));
});
