// A sample of the kill sweep of test/prove/push-kills.ts: the real process, killed with -9 at counted steps.
import { afterAll, describe, expect, it } from 'vitest';
import { killModes, otherCases, planCases } from '../support/kill-cases.ts';
import { stopPostgres } from '../support/postgres.ts';
import { sweepKills } from '../support/push-kills.ts';

const sample = [
  // The look before a first send is off and on in turn.
  ...killModes.map((mode, index) => ({
    kind: planCases[index % 2],
    mode,
    // Far apart, so that four sweeps of two deaths each meet four parts of a push.
    first: 5 + 12 * index,
    engine: index === 3 ? ('postgres' as const) : ('sqlite' as const),
  })),
  // The other kinds share the engine; each meets one way of answering here, all of them in the sweep.
  ...otherCases.map((kind, index) => ({
    kind,
    mode: killModes[3 - index],
    first: 11 * (index + 1),
    engine: 'sqlite' as const,
  })),
].flatMap(({ kind, mode, ...rest }) =>
  kind && mode ? [[kind.job, mode.name, { kind, mode, ...rest }] as const] : [],
);

afterAll(stopPostgres);

describe.concurrent('a push process killed at any step', () => {
  it.each(sample)('sends nothing twice and loses nothing: %s, %s', { timeout: 300_000 }, async (...args) => {
    const [, , what] = args;
    const report = await sweepKills({ ...what, kills: 2, stride: 17 });
    expect(report).toMatchObject({ twice: 0, lost: 0, open: 0 });
    expect(report.kills).toBeGreaterThanOrEqual(2);
  });
});
