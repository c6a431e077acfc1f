// A sample of the kill sweep of the pulls: plans with their parts, events and daily figures on SQLite, a listing on
// PostgreSQL. `npm run prove` runs all of it, every job on both.
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { stopPostgres } from '../support/databases/postgres.ts';
import { type Ground, openGround, sweep } from '../support/kills/pull-kills.ts';

const SAMPLE = {
  sqlite: ['pull-route-plans', 'pull-events', 'pull-daily-summaries'],
  postgres: ['pull-vehicles'],
} as const;

let ground: Ground | undefined;
afterEach(() => ground?.close());
afterAll(stopPostgres);

describe('a pull that is killed at any step, killed again while it recovers, and run again', () => {
  it.each(['sqlite', 'postgres'] as const)('ends in the state of an undisturbed run, on %s', async (engine) => {
    ground = await openGround(engine);
    for (const job of SAMPLE[engine]) {
      const { work, ...swept } = await sweep(ground, { job, kills: 1 });
      expect(swept, job).toMatchObject({ kills: 2, again: 1, wrong: [] });
      // Otherwise the kills would have tested too little.
      expect(Math.min(...Object.values(work)), job).toBeGreaterThan(0);
    }
  });
});
