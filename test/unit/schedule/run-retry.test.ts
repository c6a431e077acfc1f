// When a run that failed for a passing reason is tried again: the delay after each try, and the scheduler's decision.
import { describe, expect, it } from 'vitest';
import { Ambiguous, Fatal, Retriable, Skippable } from '../../../src/core/errors.ts';
import { zeroCounts } from '../../../src/core/glossary.ts';
import { createRetryBudgets } from '../../../src/core/retry/retry-budget.ts';
import { decide, type TickState } from '../../../src/schedule/decision.ts';
import { firstEra, jitterOf } from '../../../src/schedule/due.ts';
import { outcomeFromJson, outcomeToJson } from '../../../src/sync/dispatch/messages.ts';
import { retryDelayMs } from '../../../src/sync/run.ts';
import type { SliceOutcome } from '../../../src/sync/slice.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const details = { code: 'x' };
const PASSING = new Retriable('unreachable', details);
const LASTING = new Skippable('rejected', details);

describe('the delay of a retry', () => {
  it.each([
    ['after 1, 5 and 15 minutes', [PASSING], 'failed', [1, 5, 15]],
    ['then every 15 minutes, if nothing was done', [PASSING], 'failed', [1, 5, 15, 15, 15]],
    ['then by the schedule, if a part was done', [PASSING], 'partial', [1, 5, 15, undefined]],
    ['if any of the failures may pass', [LASTING, PASSING], 'partial', [1]],
    ['if it is unclear whether a write took effect', [new Ambiguous('lost', details)], 'failed', [1]],
    ['not if none of them may pass', [LASTING, new Fatal('login', details)], 'failed', [undefined]],
    ['not if nothing failed', [], 'partial', [undefined]],
  ] as const)('%s', (_when, failures, status, minutes) => {
    const delays = minutes.map((_, index) => retryDelayMs(failures, status, index + 1));
    expect(delays).toEqual(minutes.map((each) => each && each * MINUTE));
  });

  it('is the same for a failure in another process', () => {
    const outcome = { scope: 's', counts: zeroCounts(), end: 'failed', failure: PASSING } satisfies SliceOutcome;
    const received = outcomeFromJson(JSON.parse(JSON.stringify(outcomeToJson(outcome))));
    expect(received.end === 'failed' && retryDelayMs([received.failure], 'failed', 1)).toBe(MINUTE);
  });
});

describe('the decision', () => {
  const TICK = Date.parse('2026-05-04T06:00:00Z');
  const JITTER = jitterOf('daily', 24 * HOUR);
  const failed = (change: Partial<TickState>): TickState => ({
    paused: false,
    lastRunId: 'failed',
    lastMs: TICK,
    unfinishedMs: undefined,
    tickMs: TICK,
    retryMs: undefined,
    attempt: 2,
    ...change,
  });
  const decided = (ticks: TickState, nowMs: number) =>
    decide(
      {
        name: 'daily',
        eras: firstEra({ cron: '0 6 * * *', timezone: 'UTC' }),
        isRequested: false,
        clockSetBack: undefined,
      },
      ticks,
      nowMs,
    );
  const run = { cause: 'retry', tickAt: TICK, after: 'failed', attempt: 2 };

  it.each([
    ['waits for the retry', { retryMs: TICK + MINUTE }, TICK, { waitMs: MINUTE }],
    ['tries again for the same tick', { retryMs: TICK + MINUTE }, TICK + MINUTE, { run }],
    ['tries again after a downtime', { retryMs: TICK + MINUTE }, TICK + HOUR, { run }],
    ['waits for the tick if none is due', {}, TICK + HOUR, { waitMs: 23 * HOUR + JITTER }],
    ['does not try a paused job again', { retryMs: TICK, paused: true }, TICK + HOUR, { waitMs: undefined }],
    [
      'ignores a retry from before the clock was set back',
      { retryMs: TICK + 9 * HOUR },
      TICK,
      { waitMs: 24 * HOUR + JITTER },
    ],
  ] as const)('%s', (_what, ticks, nowMs, expected) => {
    expect(decided(failed(ticks), nowMs)).toEqual(expected);
  });

  it('runs the next tick rather than a retry, and counts it as the next try', () => {
    const next = TICK + 24 * HOUR;
    expect(decided(failed({ retryMs: next - MINUTE }), next + JITTER)).toEqual({
      run: { cause: 'schedule', tickAt: next, after: 'failed', attempt: 2 },
    });
  });
});

it('a run that has used up its retries leaves those of other runs alone', () => {
  const budgetOf = createRetryBudgets();
  while (budgetOf('one').take());
  expect(budgetOf('one').take()).toBe(false);
  expect(budgetOf('two').take()).toBe(true);
  for (let n = 0; n < 99; n++) budgetOf(`other ${n}`);
  expect(budgetOf('two').take()).toBe(true);
});
