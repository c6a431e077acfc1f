// The pg-boss workers of this process. They work slices for the process that planned the run. A slice may be delivered
// twice, which is harmless: rows and coverage are one transaction, and that transaction is refused once the run's lease has
// changed hands.
import type { Job, JobResult, PgBoss } from 'pg-boss';
import { asRoadbookError } from '../../core/errors.ts';
import { noCounts } from '../../core/glossary.ts';
import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time/clock.ts';
import { createLoop } from '../../core/time/loop.ts';
import { fencedEngine, isHeld, type Lease } from '../../warehouse/control/leases.ts';
import { thisProcess } from '../../warehouse/control/this-process.ts';
import type { Engine } from '../../warehouse/engine.ts';
import type { SyncDependencies } from '../dependencies.ts';
import type { NamedJob, RunContext } from '../job.ts';
import { GIVEN_BACK, outcomeToJson, QUEUE, type SliceMessage } from './messages.ts';

/** How often an idle worker asks for a slice; the least that pg-boss allows. */
const ASK_S = 0.5;
/** How long a process that cannot work leaves all slices to others. */
const REST_MS = 30_000;
/** How often a worker checks that the run still holds its lease. */
const CHECK_MS = 1_000;

/**
 * What may be wrong with one machine: its login, its way to the service, its folder for pictures. The process that planned
 * the run reports it as the outcome; any other process leaves the slice to the rest.
 */
const LOCAL: ReadonlySet<string> = new Set([
  'login_refused',
  'login_unavailable',
  'service_unreachable',
  'images_unwritable',
]);

export interface WorkerDependencies {
  jobs: readonly NamedJob[];
  /** The dependencies of this process, kept open for as long as the slice takes. */
  during<T>(work: (dependencies: SyncDependencies) => Promise<T>): Promise<T>;
  /** Slices at once in this process. */
  workers: number;
  /** How often a worker renews the heartbeat of its slice. */
  refreshSeconds: number;
  clock: Clock;
  log: Log;
}

export interface Workers {
  /** There may be a slice to work. */
  wake(): void;
  /** Begins no more slices; those under way get some time, then they go back to the queue. */
  stop(graceMs: number): Promise<void>;
}

export async function startWorkers(boss: PgBoss, dependencies: WorkerDependencies): Promise<Workers> {
  const { jobs, workers, refreshSeconds, clock } = dependencies;
  /** pg-boss has one limit for all groups; only the jobs that limit their slices are groups. */
  const localGroupConcurrency = Math.min(workers, ...jobs.flatMap(({ slicesAtOnce }) => slicesAtOnce ?? []));
  const stopping = new AbortController();
  const cut = new AbortController();
  let resting: Promise<void> | undefined;

  async function handle([job]: Job<SliceMessage>[]): Promise<JobResult[]> {
    if (job === undefined) return [];
    const { isUnable, ...result } = await workMessage(job.data, cut.signal, dependencies);
    if (isUnable) resting ??= rest();
    // Otherwise pg-boss pauses before it asks for the next slice.
    for (const { id, count } of boss.getWipData()) if (count > 0) boss.notifyWorker(id);
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
        pollingIntervalSeconds: ASK_S,
        heartbeatRefreshSeconds: refreshSeconds,
      },
      handle,
    );
  }

  /** Leaves all slices to others for a while. */
  async function rest(): Promise<void> {
    // Those under way end first: the workers that come back would work as many beside them.
    await boss.offWork(QUEUE);
    await clock.sleep(REST_MS, stopping.signal).then(work, () => undefined);
    resting = undefined;
  }

  await work();
  return {
    wake() {
      for (const { id } of boss.getWipData()) boss.notifyWorker(id);
    },
    async stop(graceMs) {
      stopping.abort();
      const ended = new AbortController();
      const cutting = clock.sleep(graceMs, ended.signal).then(
        () => cut.abort(),
        () => undefined,
      );
      await resting;
      await boss.offWork(QUEUE);
      ended.abort();
      await cutting;
    },
  };
}

/**
 * `completed` ends the slice, `failed` has pg-boss retry it, which costs one of its tries; the output of a slice that nobody
 * waits for is undefined.
 */
interface WorkResult {
  status: 'completed' | 'failed';
  output?: object | undefined;
  /** This process cannot work at present and should leave slices to others. */
  isUnable?: boolean;
}

/** Never throws. */
async function workMessage(
  message: SliceMessage,
  signal: AbortSignal,
  { jobs, during, clock, log }: WorkerDependencies,
): Promise<WorkResult> {
  const { job: name, runId, lease, slice } = message;
  const facts = { job: name, run_id: runId, scope: slice.scope };
  const retry = (code: string): WorkResult => {
    log.warn({ ...facts, code }, 'slice will be retried');
    return { status: 'failed', output: { code } };
  };
  const leave = (code: string): WorkResult => {
    log.warn({ ...facts, code }, 'slice is left to others');
    return { status: 'completed', output: GIVEN_BACK, isUnable: true };
  };
  const job = jobs.find((each) => each.name === name);
  if (job?.workSlice === undefined) return leave('job_unknown');
  const { workSlice } = job;

  async function work(dependencies: SyncDependencies): Promise<WorkResult> {
    const watch = watchLease(dependencies.engine, lease, clock);
    await watch.check();
    watch.start();
    const context = contextOf(message, dependencies, AbortSignal.any([signal, watch.lost]));
    const outcome = await workSlice(slice, context).finally(watch.stop);
    const code = outcome.end === 'failed' ? outcome.failure.code : undefined;
    if (watch.lost.aborted || code === 'lease_lost') return { status: 'completed' };
    if (outcome.end === 'stopped') return { status: 'completed', output: GIVEN_BACK };
    if (code?.startsWith('warehouse_')) return retry(code);
    if (code !== undefined && LOCAL.has(code) && !(await isPlannedHere(dependencies.engine, lease)))
      return leave(code);
    return { status: 'completed', output: outcomeToJson(outcome) };
  }

  return during(work).catch((thrown) => retry(asRoadbookError(thrown).code));
}

const isPlannedHere = (engine: Engine, lease: Lease): Promise<boolean> =>
  engine.read((sql) => isHeld(sql, lease, thisProcess.holder));

const contextOf = (
  { job, runId, options, period, lease }: SliceMessage,
  dependencies: SyncDependencies,
  signal: AbortSignal,
): RunContext => ({
  job,
  runId,
  options,
  period,
  lease,
  counts: noCounts(),
  dependencies: { ...dependencies, engine: fencedEngine(dependencies.engine, lease) },
  log: dependencies.log.child({ job, run_id: runId }),
  signal,
});

/** `lost` aborts when the run has ended or another process has taken it over. */
function watchLease(engine: Engine, lease: Lease, clock: Clock) {
  const lost = new AbortController();
  async function check(): Promise<void> {
    // A check that fails says nothing; the transaction of the slice checks again.
    if (!(await engine.read((sql) => isHeld(sql, lease)).catch(() => true))) lost.abort();
  }
  return { lost: lost.signal, check, ...createLoop(clock, CHECK_MS, check) };
}
