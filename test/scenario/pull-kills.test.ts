// A sample of the kill sweep of the pulls: a listing, plans with their parts, events and figures by the day. `npm run
// prove` runs the whole of it, every job.
import { afterAll, describe, expect, it } from 'vitest';
import { stopPostgres } from '../support/postgres.ts';
import { sweep } from '../support/pull-kills.ts';

const SAMPLE = ['pull-vehicles', 'pull-route-plans', 'pull-events', 'pull-daily-summaries'];

afterAll(stopPostgres);

describe('a pull that is killed at any step, killed again while it recovers, and run again', () => {
  it.each(SAMPLE)('ends where it would have ended: %s', async (job) => {
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
