// Finds longer periods with which all jobs together fit the rate. Each step slows down the job with the most calls. A
// job that needs as many calls at any period, such as a push, is left alone.
import { DAY_MS, formatDuration } from '../../core/time/durations.ts';
import { type BudgetJob, type CallBudget, FULL_SHARE } from './call-budget.ts';

const MINUTES_A_DAY = 1_440;
const MINUTES = [2, 3, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 720, 1_440];

/** The rate for this many calls a day, with room to catch up. */
export const rateFor = (callsADay: number): number => Math.ceil(callsADay / MINUTES_A_DAY / FULL_SHARE);

/** Empty if everything already fits, or if no period would make it fit. */
export function slowerSchedules(jobs: readonly BudgetJob[], budget: CallBudget) {
  const most = budget.requests_per_minute * MINUTES_A_DAY * FULL_SHARE;
  const state = budget.jobs.map(({ name, calls_per_day, runs_per_day }) => ({
    job: jobs.find((each) => each.name === name),
    name,
    calls: calls_per_day,
    periodMs: DAY_MS / Math.max(runs_per_day, 0.001),
    isSlower: false,
  }));
  const total = (): number => state.reduce((sum, { calls }) => sum + calls, 0);
  while (total() > most) {
    const steps = state.flatMap((each) => {
      const next = MINUTES.find((minutes) => minutes * 60_000 > each.periodMs * 1.01);
      if (next === undefined || each.job === undefined) return [];
      const periodMs = next * 60_000;
      const calls = (each.job.callsOf(periodMs).calls * DAY_MS) / periodMs;
      return calls < each.calls * 0.99 ? [{ each, periodMs, calls }] : [];
    });
    const costliest = steps.toSorted((a, b) => b.each.calls - a.each.calls)[0];
    if (costliest === undefined) return [];
    Object.assign(costliest.each, { calls: costliest.calls, periodMs: costliest.periodMs, isSlower: true });
  }
  return state
    .filter(({ isSlower }) => isSlower)
    .map(({ name, calls, periodMs }) => ({
      job: name,
      /** The new period, as operators write it. */
      every: formatDuration(periodMs),
      calls_per_day: Math.round(calls),
    }));
}
