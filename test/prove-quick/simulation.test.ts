// A sample of the simulation; `npm run prove` lives weeks of it. What a seed found there has a test of its own that is
// quicker than its life: docs/explanation/reliability.md names them.
import { describe, expect, it } from 'vitest';
import { simulate } from '../support/simulation.ts';
import { isSound, mostHeldForReview } from '../support/simulation-verdict.ts';

// A life in which plans are sent without a clear answer and loads are cut off: a plan that is sent again blindly, or a
// period that counts as read before its rows are there, shows in it.
const SAMPLE = { seed: 59, days: 0.25, fairDays: 0.25, mostPlans: 6, deadlyLoads: 0.3 };

describe('a simulated daemon in bad weather', () => {
  it('ends with the truth, nothing twice, nothing lost, little left to a person', async () => {
    const report = await simulate(SAMPLE);
    expect(report).toMatchObject({ wrong: [], twice: 0, lost: 0, open: 0, doubledTicks: 0, miscounted: 0 });
    expect(isSound(report)).toBe(true);
    expect(isSound({ ...report, heldForReview: mostHeldForReview(report.items) + 1 })).toBe(false);
    expect(report.compared).toBeGreaterThan(50);
    for (const happened of ['deaths', 'cutLoads', 'faults', 'unclear'] as const)
      expect(report[happened], happened).toBeGreaterThan(0);

    // The same seed gives the same life.
    const again = await simulate(SAMPLE);
    expect(again).toEqual(report);
  });
});
