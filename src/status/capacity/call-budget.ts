// Whether the schedules fit the allowed rate of calls: calls and minutes of each job, per run and per day. The figures
// are measured if enough runs are stored, otherwise estimated from the job's declaration.
import { DAY_MS, formatDuration } from '../../core/time/durations.ts';
import { type Schedule, ticksAfter } from '../../schedule/ticks.ts';
import type { Engine } from '../../warehouse/engine.ts';

export interface BudgetJob extends Schedule {
  name: string;
  /** Calls of one run if runs are `periodMs` apart. */
  callsOf(periodMs: number): { calls: number; basis: string };
}

const MINUTE_MS = 60_000;
export const MINUTES_A_DAY = 1_440;
/** Periods are computed from at most this many ticks, up to this far ahead. */
const MOST_TICKS = 200;
const HORIZON_MS = 35 * DAY_MS;
/** Above this share of the rate there is no room for retries and catch-up runs. */
export const FULL_SHARE = 0.8;

export type CallBudget = ReturnType<typeof callBudget>;

export function callBudget(jobs: readonly BudgetJob[], perMinute: number, nowMs: number) {
  const warnings: string[] = [];
  const budgets = jobs.map((job) => {
    const { shortestMs, meanMs } = periodsOf(job, nowMs);
    const { calls, basis } = job.callsOf(meanMs);
    const minutes = calls / perMinute;
    if (minutes * MINUTE_MS > shortestMs) {
      warnings.push(
        `${job.name}: a run needs ${Math.ceil(calls)} calls, at least ${formatDuration(minutes * MINUTE_MS)} at ${perMinute} a minute, but is due every ${formatDuration(shortestMs)}`,
      );
    }
    const runs = DAY_MS / meanMs;
    return {
      name: job.name,
      calls_per_run: rounded(calls),
      minutes_per_run: rounded(minutes, 3),
      runs_per_day: rounded(runs),
      calls_per_day: Math.round(calls * runs),
      minutes_per_day: rounded(minutes * runs),
      /** Where the figures come from. */
      basis,
    };
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
    /** Share of the calls that the rate allows in a day; 1 is all of them. */
    share: rounded(share, 4),
    warnings,
  };
}

/** The shortest and the mean time between two of the coming ticks. */
function periodsOf(job: Schedule, nowMs: number): { shortestMs: number; meanMs: number } {
  const ticks: number[] = [];
  for (const tick of ticksAfter(job, nowMs).take(MOST_TICKS)) {
    ticks.push(tick);
    // Stops early for a rare schedule, whose 200 ticks would take centuries.
    if (ticks.length > 1 && tick > nowMs + HORIZON_MS) break;
  }
  const gaps = ticks.slice(1).map((tick, index) => tick - (ticks[index] ?? 0));
  // A schedule with fewer than two coming ticks hardly costs anything.
  if (gaps.length === 0) return { shortestMs: DAY_MS * 366, meanMs: DAY_MS * 366 };
  return { shortestMs: Math.min(...gaps), meanMs: sum(gaps) / gaps.length };
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const rounded = (number: number, digits = 1): number => Number(number.toFixed(digits));

const LAST_RUNS = 21;
/** Fewer runs are not representative: the very first run reads the past. */
const LEAST_RUNS = 5;

/** `calls` is the median of the last runs. */
export const measuredCalls = (engine: Engine, job: string) =>
  engine.read(async (sql) => {
    const rows: { requests: number }[] = await sql('sync_run')
      .where({ job })
      .whereIn('cause', ['schedule', 'catch-up'])
      .whereIn('status', ['ok', 'partial'])
      .orderBy('started_at', 'desc')
      .limit(LAST_RUNS)
      .select('requests');
    if (rows.length < LEAST_RUNS) return undefined;
    const sorted = rows.map(({ requests }) => Number(requests)).toSorted((a, b) => a - b);
    return { calls: sorted[Math.floor(sorted.length / 2)] ?? 0, runs: rows.length };
  });

/** Number of vehicles that the service lists; undefined before the first pull. */
export const countVehicles = (engine: Engine): Promise<number | undefined> =>
  engine.read(async (sql) => {
    const [row] = await sql('vehicle').whereNull('_missing_since').count({ n: '*' });
    return Number(row?.n ?? 0) || undefined;
  });
