// A sample of the kill sweep of test/prove/push-kills.ts: the real process, killed with -9 at counted steps, and again
// while it recovers.
import { afterAll, describe, expect, it } from 'vitest';
import { stopPostgres } from '../support/databases/postgres.ts';
import { type KillCase, type KillMode, killModes, otherCases, planCase } from '../support/kills/kill-cases.ts';
import { type Death, type SweepOptions, sweepKills } from '../support/kills/push-kills.ts';

const [points, agents, itineraries] = otherCases as [KillCase, KillCase, KillCase];
const [atOnce, late, unreadable, resets] = killModes as [KillMode, KillMode, KillMode, KillMode];

/** The login is the first POST, the item itself the second. */
const posted = (only: string): Death[] => [{ at: 2, only: `${only} POST` }];
const file = (only: string, at: number): Death[] => [{ at, only }];

const sample: SweepOptions[] = [
  // Some answers are lost without a kill: an unknown entry must not be sent again before a read-back either.
  { kind: planCase, mode: resets, deaths: posted('request written'), phase: 0.1 },
  // The next process cannot see it yet. It ends before so late a step; the process after another kill is killed.
  { kind: planCase, mode: late, deaths: posted('answer arrived'), phase: 0.99 },
  { kind: planCase, mode: unreadable, deaths: posted('answer arrived'), phase: 0.6, engine: 'postgres' },
  // The other kinds share the outbox; each meets one way of answering here, all of them in the sweep. They are killed
  // before the result of their file is written, before the file is moved, and before the warehouse knows that it was.
  { kind: points, mode: atOnce, deaths: file('rename begins', 1), phase: 0.8 },
  { kind: agents, mode: resets, deaths: file('rename begins', 2), phase: 0.3 },
  { kind: itineraries, mode: unreadable, deaths: file('rename done', 2), phase: 0.5 },
];

afterAll(stopPostgres);

describe.concurrent('a push process killed at any step, and again while it recovers', () => {
  it.each(sample)(
    'sends nothing twice and loses nothing: $kind.job, $mode.name',
    { timeout: 300_000 },
    async (options) => {
      const report = await sweepKills(options);
      expect(report).toMatchObject({ aimed: 1, missed: 0, again: 1, twice: 0, lost: 0, open: 0 });
    },
  );
});
