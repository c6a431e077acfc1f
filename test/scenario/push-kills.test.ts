// A sample of the kill sweep of test/prove/push-kills.ts: the real process, killed with -9 at counted steps.
import { describe, expect, it } from 'vitest';
import { killModes, sweepKills } from '../support/push-kills.ts';

const KILLS = 5;

describe.concurrent('a push process killed at any step', () => {
  it.each(killModes)('sends no plan twice and loses none: $name', { timeout: 180_000 }, async (mode) => {
    const report = await sweepKills({ mode, kills: KILLS, stride: 17 });
    expect(report).toMatchObject({ twice: 0, lost: 0, open: 0 });
    expect(report.kills).toBeGreaterThanOrEqual(KILLS);
  });
});
