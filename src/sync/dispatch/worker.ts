// The pg-boss workers of this process. They read slices for the process that planned the run. A slice may be delivered
// twice, which is harmless: rows and coverage are one transaction, and that transaction fails once another process holds
// the run's lease.
import type { Job, JobResult, PgBoss } from 'pg-boss';
import { asRoadbookError } from '../../core/errors.ts';
import { zeroCounts } from '../../core/glossary.ts';
import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time/clock.ts';
import { createLoop } from '../../core/time/loop.ts';
import { fencedEngine, isHeld, type Lease } from '../../warehouse/control/leases.ts';
import { thisProcess } from '../../warehouse/control/this-process.ts';
import type { Engine } from '../../warehouse/engine.ts';
import type { SyncDependencies } from '../dependencies.ts';
import type { NamedJob, RunContext } from '../job.ts';
import { outcomeToJson, QUEUE, type SliceMessage } from './messages.ts';

/** How often an idle worker asks for a slice; the minimum of pg-boss. */
const POLL_S = 0.5;
/** How long a process that cannot read slices leaves all of them to other processes. */
const PAUSE_MS = 120_000;
/** How often a worker checks that the run still holds its lease. */
const CHECK_MS = 1_000;

/**
 * Failures that may concern this machine only: its login, its connection to the service, its picture folder, its policies.
 * The process that planned the run reports such a failure as the outcome; any other process has the slice retried elsewhere.
 */
const LOCAL_FAILURES: ReadonlySet<string> = new Set([
  'login_refused',
  'login_unavailable',
  'service_unreachable',
  'images_unwritable',
  'privacy_policies_differ',
]);

export interface WorkerDependencies {
  jobs: readonly NamedJob[];
  /** Runs `work` with the dependencies of this process, which stay open until it ends. */
  during<T>(work: (dependencies: SyncDependencies) => Promise<T>): Promise<T>;
  /** Most slices at once in this process. */
  workers: number;
  /** How often a worker renews the heartbeat of its slice. */
  refreshSeconds: number;
  clock: Clock;
  log: Log;
}

/** The workers end with pg-boss. `stopping` ends the pause of a process that cannot read slices. */
export async function startWorkers(
  boss: PgBoss,
  stopping: AbortSignal,
  dependencies: WorkerDependencies,
): Promise<void> {
  const { jobs, workers, refreshSeconds, clock, log } = dependencies;
  /** pg-boss has one limit for all groups; only jobs that limit their slices form a group. */
  const localGroupConcurrency = Math.min(workers, ...jobs.flatMap(({ slicesAtOnce }) => slicesAtOnce ?? []));
  let isPausing = false;

  async function handle([job]: Job<SliceMessage>[]): Promise<JobResult[]> {
    if (job === undefined) return [];
    const { isUnable, ...result } = await workMessage(job.data, job.signal, dependencies);
    if (isUnable && !isPausing) void pause();
    // Without this, pg-boss waits before it asks for the next slice.
    wake(boss);
    return [{ id: job.id, ...result }];
  }

  async function work(): Promise<void> {
    if (workers === 0) return;
    await boss.work(
      QUEUE,
      {
        perJobResults: true,
        localConcurrency: workers,
        localGroupConcurrency,
        pollingIntervalSeconds: POLL_S,
        heartbeatRefreshSeconds: refreshSeconds,
      },
      handle,
    );
  }

  /** Leaves all slices to other processes for a while. */
  async function pause(): Promise<void> {
    isPausing = true;
    log.warn({ seconds: PAUSE_MS / 1_000 }, 'this process takes no slices for a while');
    // Wait for the slices in progress: otherwise the restarted workers would exceed the limit.
    await boss.offWork(QUEUE);
    await clock.sleep(PAUSE_MS, stopping).then(work, () => undefined);
    isPausing = false;
  }

  await work();
}

/** Makes the workers of this process poll at once. */
export function wake(boss: PgBoss): void {
  for (const { id } of boss.getWipData()) boss.notifyWorker(id);
}

/**
 * `completed` ends the slice; `failed` makes pg-boss retry it, which uses up one retry. The output is undefined if no
 * process waits for it any more.
 */
interface WorkResult {
  status: 'completed' | 'failed';
  output?: object | undefined;
  /** This process cannot read slices at present and should leave them to others. */
  isUnable?: boolean;
}

/** Never throws. */
async function workMessage(
  message: SliceMessage,
  signal: AbortSignal,
  { jobs, during, clock, log }: WorkerDependencies,
): Promise<WorkResult> {
  const { slice, ...run } = message;
  const { lease } = run;
  const facts = { job: run.job, run_id: run.runId };
  const retry = (code: string, isUnable = false): WorkResult => {
    log.warn({ ...facts, scope: slice.scope, code }, 'slice will be retried');
    return { status: 'failed', output: { code }, isUnable };
  };
  const workSlice = jobs.find(({ name }) => name === run.job)?.workSlice;
  if (workSlice === undefined) return retry('job_unknown', true);

  const work = async (dependencies: SyncDependencies): Promise<WorkResult> => {
    const { engine } = dependencies;
    const watch = watchLease(engine, lease, clock);
    await watch.check();
    watch.start();
    const context: RunContext = {
      ...run,
      counts: zeroCounts(),
      dependencies: { ...dependencies, engine: fencedEngine(engine, lease) },
      log: dependencies.log.child(facts),
      signal: AbortSignal.any([signal, watch.lost]),
    };
    const outcome = await workSlice(slice, context).finally(watch.stop);
    const code = outcome.end === 'failed' ? outcome.failure.code : undefined;
    if (watch.lost.aborted || code === 'lease_lost') return { status: 'completed' };
    if (outcome.end === 'stopped') return retry('stopped');
    if (code?.startsWith('warehouse_')) return retry(code);
    if (code !== undefined && LOCAL_FAILURES.has(code)) {
      const isPlannedHere = await engine.read((sql) => isHeld(sql, lease, thisProcess.holder));
      if (!isPlannedHere) return retry(code, true);
    }
    return { status: 'completed', output: outcomeToJson(outcome) };
  };

  return during(work).catch((thrown) => retry(asRoadbookError(thrown).code));
}

/** `lost` aborts when the run has ended or another process has taken over its lease. */
function watchLease(engine: Engine, lease: Lease, clock: Clock) {
  const lost = new AbortController();
  async function check(): Promise<void> {
    // A failed check proves nothing. The transaction of the slice checks the lease again.
    if (!(await engine.read((sql) => isHeld(sql, lease)).catch(() => true))) lost.abort();
  }
  return { lost: lost.signal, check, ...createLoop(clock, CHECK_MS, check) };
}
