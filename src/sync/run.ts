// Executes one run of one job. The run is recorded in the warehouse before any work, and closed with its counts however
// it ends.
import { randomBytes } from 'node:crypto';
import { asRoadbookError, Fatal, isPassing, type RoadbookError } from '../core/errors.ts';
import { type RunCounts, type RunStatus, type RunSummary, zeroCounts } from '../core/glossary.ts';
import type { Log } from '../core/log.ts';
import { redactedError } from '../core/text/redaction.ts';
import { isoInstant } from '../core/time/clock.ts';
import { closeRun, ITEM_CODES, openRun, type RunCause } from '../warehouse/control/runs.ts';
import type { SyncDependencies } from './dependencies.ts';
import type { NamedJob, RunContext, RunOutcome } from './job.ts';

export interface RunRequest
  extends Pick<RunContext, 'options' | 'period' | 'lease' | 'onProgress' | 'draining' | 'jobs'> {
  job: NamedJob;
  cause: RunCause;
  /** The planned instant of a scheduled run. */
  tickAt?: number;
  /** Number of this try; default 1. */
  attempt?: number;
  /** The run is made only if this is still the latest scheduled run. */
  after?: string | null;
  /** The run is made only if its request still exists. */
  requested?: boolean;
  /** Called once with the holder of the lease, if the run has to wait for it. */
  onWait?: (holder: string) => void;
  signal?: AbortSignal;
  /** Why the run cannot be made; the run is recorded as failed with this error. */
  blockedBy?: RoadbookError;
}

export interface FinishedRun {
  summary: RunSummary;
  /** Jobs that should run next: they pull rows that this run referenced and the warehouse does not have. */
  followUpJobs: readonly string[];
  /** When a daemon tries the run again, because its failure may pass; null if none does. */
  retryAt: string | null;
}

export async function runJob(request: RunRequest, dependencies: SyncDependencies): Promise<FinishedRun> {
  const { job, cause, tickAt, attempt = 1, signal = new AbortController().signal } = request;
  const { clock, engine } = dependencies;
  const runId = newRunId(clock.now());
  const log = dependencies.log.child({ job: job.name, run_id: runId });
  const startedAt = isoInstant(clock.now());
  await openRun(engine, {
    runId,
    job: job.name,
    cause,
    tickAt: tickAt === undefined ? null : isoInstant(tickAt),
    attempt,
    startedAt,
    lease: request.lease,
  });
  log.debug({ cause }, 'run started');
  const context: RunContext = {
    ...request,
    job: job.name,
    runId,
    counts: zeroCounts(),
    dependencies,
    log,
    signal,
  };
  const countRun = dependencies.totals?.begin(job.name, context.counts);
  const { blockedBy } = request;
  const outcome = blockedBy === undefined ? await execute(job, context) : { failures: [blockedBy], worked: false };
  // Its code says whether the run was a success, so items that wait for a person must not hide that a part was not done.
  const failure = outcome.failures.find(({ code }) => !ITEM_CODES.includes(code)) ?? outcome.failures[0];
  const ended = {
    status: statusOf(context, outcome),
    started_at: startedAt,
    finished_at: isoInstant(clock.now()),
    ...context.counts,
    error: failure === undefined ? null : redactedError(failure, dependencies.redactor),
  };
  countRun?.(ended.status);
  const summary: RunSummary = { job: job.name, run_id: runId, ...ended };
  const isRetried = request.period === undefined && job.isNotRetried !== true;
  const retryMs = isRetried ? retryDelayMs(outcome.failures, ended.status, attempt) : undefined;
  const retryAt = retryMs === undefined ? null : isoInstant(clock.now() + retryMs);
  await closeRun(engine, summary, retryAt);
  const finished = { summary, followUpJobs: outcome.followUpJobs ?? [], retryAt };
  logEnd(log, request, finished, outcome.failures, dependencies);
  return finished;
}

/** The failure of a run that was stopped before its work was done. By its code the next start of a daemon repeats the run. */
export const stoppedEarly = (hint: string): Fatal =>
  new Fatal('The run was stopped before it finished', { code: 'stopped', hint });

/** Sorts by time. Short, because every row that the run changes stores it. */
const newRunId = (nowMs: number): string => nowMs.toString(16).padStart(12, '0') + randomBytes(4).toString('hex');

async function execute(job: NamedJob, context: RunContext): Promise<RunOutcome> {
  try {
    return await job.execute(context);
  } catch (thrown) {
    const failure = asRoadbookError(thrown);
    // Any other failure is named when the run ends; this one has a stack.
    if (failure.code === 'unexpected') context.log.error({ err: failure }, 'run failed');
    return { failures: [failure], worked: false };
  }
}

/** Failed: nothing was done. Partial: some work was done, and something failed, was quarantined or was rejected. */
function statusOf({ counts }: RunContext, { failures, worked }: RunOutcome): RunStatus {
  if (failures.length > 0) return worked ? 'partial' : 'failed';
  return counts.quarantined + counts.rejected + counts.unknown > 0 ? 'partial' : 'ok';
}

/** Delay after the first, the second and the third try. */
const RETRY_DELAYS_MS = [60_000, 300_000, 900_000];

/**
 * How long after its end a run is tried again, if the schedule does not run the job earlier; undefined if the failure does
 * not pass by itself. A run that did nothing costs few calls, so it is tried until it succeeds. One that did a part of its
 * work costs as much as any other run, so after the third retry it is left to the schedule.
 */
export function retryDelayMs(failures: readonly RoadbookError[], status: RunStatus, attempt: number) {
  if (!failures.some(isPassing)) return undefined;
  return RETRY_DELAYS_MS[attempt - 1] ?? (status === 'failed' ? RETRY_DELAYS_MS.at(-1) : undefined);
}

/** One line for each run that changed something or failed; counts of zero are left out. */
function logEnd(
  log: Log,
  { cause, attempt = 1 }: RunRequest,
  { summary, retryAt }: FinishedRun,
  failures: readonly RoadbookError[],
  { outages, clock }: SyncDependencies,
): void {
  const { job, run_id: _, status, started_at, finished_at, error, ...counts } = summary;
  const startedMs = Date.parse(started_at);
  const noted = outages?.note({ job, failures, requests: counts.requests, startedMs, nowMs: clock.now() });
  for (const { system, ms } of noted?.over ?? []) {
    log.info({ event: 'outage_over', system, seconds: Math.round(ms / 1_000) }, 'outage is over');
  }
  const fields = {
    cause,
    status,
    ...(attempt > 1 && { attempt }),
    duration_ms: Date.parse(finished_at) - startedMs,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    ...(error !== null && { error }),
    ...(retryAt !== null && { retry_at: retryAt }),
  };
  log[noted?.isKnown ? 'debug' : levelOf(summary, cause)](fields, 'run finished');
}

/** What shows that a run did something: a run that only found known records did not. */
const CHANGES: readonly (keyof RunCounts)[] = [
  'inserted',
  'updated',
  'quarantined',
  'sent',
  'confirmed',
  'rejected',
  'unknown',
];

function levelOf({ status, error, ...counts }: RunSummary, cause: RunCause): 'error' | 'warn' | 'info' | 'debug' {
  // The run ended early because the daemon was stopped: nothing is wrong.
  if (error?.code === 'stopped') return 'info';
  if (status === 'failed') return 'error';
  if (error !== null) return 'warn';
  return cause === 'manual' || CHANGES.some((name) => counts[name] > 0) ? 'info' : 'debug';
}
