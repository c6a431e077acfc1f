// A sample of the benchmark by CPU time: a ratio that falls by more than a third below the recorded one fails.
import { afterAll, describe, it } from 'vitest';
import { pushRatio } from '../bench/push/push-sides.ts';
import { checkRatio, copyRatio, loadRatio } from '../bench/ratios.ts';
import { stopPostgres } from '../support/databases/postgres.ts';
import { holdRatio } from '../support/measure/hold-ratio.ts';

afterAll(stopPostgres);

/** As printed by `node test/bench/ratios.ts`. Record them again when the product becomes faster. */
const RECORDED: readonly [string, () => Promise<number>, number][] = [
  ['loading rows into SQLite, beside the bare statement', loadRatio, 0.64],
  ['loading rows into PostgreSQL, beside a bare COPY', copyRatio, 0.59],
  ['checking and mapping records, beside parsing alone', checkRatio, 0.75],
  ['pushing a plan, beside posting it', pushRatio, 0.15],
];

describe('the cost of', () => {
  it.each(RECORDED)('%s has not grown by half', (_what, measure, recorded) => holdRatio(measure, recorded));
});
