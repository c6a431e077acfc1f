import { describe, expect, it } from 'vitest';
import { callBudget } from '../../../src/status/capacity/call-budget.ts';

const NOW = Date.parse('2026-03-02T08:00:30.000Z');

const job = (name: string, cron: string, calls: number) => ({
  name,
  cron,
  timezone: 'UTC',
  callsOf: () => ({ calls, basis: 'estimate' }),
});

describe('the call budget', () => {
  it('counts calls and minutes of a run and of a day', () => {
    const { jobs, ...all } = callBudget([job('a', '*/10 * * * *', 30), job('b', '0 6 * * *', 60)], 60, NOW);
    expect(jobs).toEqual([
      {
        name: 'a',
        calls_per_run: 30,
        minutes_per_run: 0.5,
        runs_per_day: 144,
        calls_per_day: 4_320,
        minutes_per_day: 72,
        basis: 'estimate',
      },
      {
        name: 'b',
        calls_per_run: 60,
        minutes_per_run: 1,
        runs_per_day: 1,
        calls_per_day: 60,
        minutes_per_day: 1,
        basis: 'estimate',
      },
    ]);
    expect(all).toEqual({
      requests_per_minute: 60,
      calls_per_day: 4_380,
      minutes_per_day: 73,
      share: 0.0507,
      warnings: [],
    });
  });

  it('warns of a run that cannot end within its shortest period', () => {
    const { warnings } = callBudget([job('a', '0,5 6 * * *', 601), job('b', '*/10 * * * *', 100)], 60, NOW);
    expect(warnings).toEqual([
      expect.stringMatching(/^a: a run needs 601 calls, at least 10m 1s at 60 a minute, but is due every 5m$/),
    ]);
  });

  it('warns when all jobs together leave no room, and says when they fall behind', () => {
    const at = (calls: number) => callBudget([job('a', '*/10 * * * *', calls)], 60, NOW).warnings;
    expect(at(480)).toEqual([]);
    expect(at(481)).toEqual([expect.stringContaining('leaves little for catching up')]);
    const three = ['a', 'b', 'c'].map((name) => job(name, '*/10 * * * *', 250));
    expect(callBudget(three, 60, NOW).warnings).toEqual([expect.stringContaining('they will fall behind')]);
  });

  it('estimates the calls of a run by the time between runs', () => {
    const seen: number[] = [];
    const hourly = {
      ...job('a', '0 * * * *', 0),
      callsOf: (periodMs: number) => {
        seen.push(periodMs);
        return { calls: 1, basis: 'estimate' };
      },
    };
    callBudget([hourly], 60, NOW);
    expect(seen).toEqual([3_600_000]);
  });
});
