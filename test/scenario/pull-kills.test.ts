// A sample of the kill sweep of every pull job; `npm run prove` runs the whole of it.
import { afterAll, describe, expect, it } from 'vitest';
import { stopPostgres } from '../support/postgres.ts';
import { PULLS, sweep } from '../support/pull-kills.ts';

afterAll(stopPostgres);

describe('a pull that is killed at any step, killed again while it recovers, and run again', () => {
  it.each(Object.keys(PULLS))('ends where it would have ended: %s', async (job) => {
    const { work, ...swept } = await sweep({ job, kills: 1 });
    expect(swept).toMatchObject({ kills: 2, again: 1, wrong: [] });
    // Otherwise the kills would have met too little.
    expect(Math.min(...Object.values(work))).toBeGreaterThan(0);
  });

  it('and the same on PostgreSQL', async () => {
    const swept = await sweep({ job: 'pull-drivers', kills: 1, engine: 'postgres' });
    expect(swept).toMatchObject({ kills: 2, again: 1, wrong: [] });
  });
});
