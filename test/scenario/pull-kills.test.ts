// A sample of the kill sweep of every pull job; `npm run prove` runs the whole of it.
import { describe, expect, it } from 'vitest';
import { PULLS, sweep } from '../support/pull-kills.ts';

describe('a pull that is killed at any step and run again', () => {
  it.each(Object.keys(PULLS))('ends where it would have ended: %s', async (job) => {
    expect(await sweep(job, 2)).toMatchObject({ kills: 2, wrong: [] });
  });
});
