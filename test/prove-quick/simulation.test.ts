// A sample of the simulation; `npm run prove` simulates weeks. A failure that a seed found there has a quicker test of
// its own: docs/explanation/reliability.md names them.
import { describe, expect, it } from 'vitest';
import { simulate } from '../support/simulation/simulation.ts';
import { isSound, mostFairLogins, mostHeldForReview } from '../support/simulation/simulation-verdict.ts';

// A simulation in which plans are sent without a clear answer and loads are interrupted: it detects a plan that is sent
// again without a read-back, and a period that is marked covered before its rows are stored.
const SAMPLE = { seed: 68, days: 0.25, fairDays: 0.25, mostPlans: 6, deadlyLoads: 0.3 };

describe('a simulated daemon under faults', () => {
  it('ends with correct data, nothing twice, nothing lost, little left to a person', async () => {
    const report = await simulate(SAMPLE);
    expect(report).toMatchObject({ wrong: [], twice: 0, lost: 0, open: 0, doubledTicks: 0, miscounted: 0 });
    expect(isSound(report)).toBe(true);
    expect(isSound({ ...report, heldForReview: mostHeldForReview(report.items) + 1 })).toBe(false);
    expect(report.fairLogins).toBeLessThanOrEqual(mostFairLogins(SAMPLE.fairDays));
    expect(report.compared).toBeGreaterThan(50);
    for (const happened of ['deaths', 'cutLoads', 'faults', 'unclear'] as const)
      expect(report[happened], happened).toBeGreaterThan(0);

    // The same seed gives the same simulation.
    const again = await simulate(SAMPLE);
    expect(again).toEqual(report);
  });

  it.each(['2026-03-08T04:00:00.000Z', '2026-11-01T03:00:00.000Z'])(
    'ends as well where the clocks of the zone change and that of the machine is set: from %s',
    async (startAt) => {
      const clockChange = { timezone: 'America/New_York', startAt };
      const report = await simulate({ ...SAMPLE, clockChange });
      expect(report).toMatchObject({ wrong: [], twice: 0, lost: 0, open: 0, doubledTicks: 0, miscounted: 0 });
      expect(report.clockSteps).toBeGreaterThan(0);
    },
  );
});
