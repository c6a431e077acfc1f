// Whether the schedules fit the rate at which the service may be called: calls and minutes of each job, a run and a
// day. Measured where enough runs are on record, estimated from the job's own declaration where not.
import { formatDuration } from '../../core/time/durations.ts';
import { type Schedule, ticksAfter } from '../../schedule/ticks.ts';

export interface BudgetJob extends Schedule {
  name: string;
  /** Calls of one run, for runs so far apart. */
  callsOf(periodMs: number): { calls: number; basis: string };
}

export interface JobBudget {
  name: string;
  calls_per_run: number;
  minutes_per_run: number;
  runs_per_day: number;
  calls_per_day: number;
  minutes_per_day: number;
  /** What the figures rest on. */
  basis: string;
}

export interface CallBudget {
  requests_per_minute: number;
  jobs: JobBudget[];
  calls_per_day: number;
  minutes_per_day: number;
  /** Of the calls that the rate allows in a day, 1 being all of them. */
  share: number;
  warnings: string[];
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const MINUTES_A_DAY = 1_440;
/** Ticks looked at, and how far ahead. */
const LOOKED_AT = 200;
const LOOKED_AHEAD_MS = 35 * DAY_MS;
/** Above this share of the rate, a retry or a catch-up finds no room. */
export const FULL_SHARE = 0.8;

export function callBudget(jobs: readonly BudgetJob[], perMinute: number, nowMs: number): CallBudget {
  const warnings: string[] = [];
  const budgets = jobs.map((job) => {
    const { shortestMs, meanMs } = periodsOf(job, nowMs);
    const { calls, basis } = job.callsOf(meanMs);
    const minutes = calls / perMinute;
    if (minutes * MINUTE_MS > shortestMs) {
      warnings.push(
        `${job.name}: a run takes ${Math.ceil(calls)} calls, at least ${formatDuration(minutes * MINUTE_MS)} at ${perMinute} a minute, but is due every ${formatDuration(shortestMs)}`,
      );
    }
    return jobBudget(job.name, { calls, basis, minutes, runs: DAY_MS / meanMs });
  });
  const total = sum(budgets.map(({ calls_per_day }) => calls_per_day));
  const share = total / (perMinute * MINUTES_A_DAY);
  if (share > FULL_SHARE) {
    warnings.push(
      `all jobs together: ${Math.round(total)} calls a day are ${Math.round(share * 100)} % of what ${perMinute} a minute allow${share > 1 ? '; they will fall behind' : ', which leaves little for catching up'}`,
    );
  }
  return {
    requests_per_minute: perMinute,
    jobs: budgets,
    calls_per_day: Math.round(total),
    minutes_per_day: rounded(total / perMinute),
    share: rounded(share, 4),
    warnings,
  };
}

function jobBudget(
  name: string,
  by: { calls: number; minutes: number; runs: number; basis: string },
): JobBudget {
  return {
    name,
    calls_per_run: rounded(by.calls),
    minutes_per_run: rounded(by.minutes, 3),
    runs_per_day: rounded(by.runs),
    calls_per_day: Math.round(by.calls * by.runs),
    minutes_per_day: rounded(by.minutes * by.runs),
    basis: by.basis,
  };
}

/** The shortest and the mean time between two of the coming ticks. */
function periodsOf(job: Schedule, nowMs: number): { shortestMs: number; meanMs: number } {
  const ticks: number[] = [];
  for (const tick of ticksAfter(job, nowMs).take(LOOKED_AT)) {
    ticks.push(tick);
    // A rare schedule is not followed through the centuries.
    if (ticks.length > 1 && tick > nowMs + LOOKED_AHEAD_MS) break;
  }
  const gaps = ticks.slice(1).map((tick, index) => tick - (ticks[index] ?? 0));
  // A schedule with less than two ticks to come is as good as none.
  if (gaps.length === 0) return { shortestMs: DAY_MS * 366, meanMs: DAY_MS * 366 };
  return { shortestMs: Math.min(...gaps), meanMs: sum(gaps) / gaps.length };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const rounded = (number: number, digits = 1): number => Number(number.toFixed(digits));
