// Runs a job together with the jobs around it. Needed jobs that never succeeded run first. Pulls of dimensions that the
// run referenced and did not find run afterwards. Neither goes further than one step. If the job is already running in
// this process, the caller gets that run, whatever period it reads; the lease keeps the runs of other processes apart.
import { Fatal, Retriable, type RoadbookError } from '../core/errors.ts';
import { readControls } from '../warehouse/control/job-controls.ts';
import { hasWorked } from '../warehouse/control/runs.ts';
import type { Engine } from '../warehouse/engine.ts';
import type { SyncDependencies } from './dependencies.ts';
import type { JobLookup, NamedJob, Preview } from './job.ts';
import { runLeased } from './leased-run.ts';
import type { FinishedRun, RunRequest } from './run.ts';
import type { AskedPeriod } from './slice.ts';

export async function runChain(
  request: RunRequest,
  jobs: JobLookup,
  dependencies: SyncDependencies,
): Promise<FinishedRun> {
  const { signal, draining } = request;
  const runOther = async (name: string): Promise<FinishedRun | undefined> => {
    const found = jobs.find(name);
    if (found === undefined || signal?.aborted === true || draining?.aborted === true) return undefined;
    const { job, options } = found;
    return runOnce({ job, options, cause: 'catch-up', signal, draining }, dependencies);
  };
  let blockedBy: RoadbookError | undefined;
  for (const name of request.job.needs ?? []) {
    if (await hasWorked(dependencies.engine, name)) continue;
    blockedBy ??= failureOfNeeded(name, await runOther(name));
  }
  const finished = await runOnce({ ...request, blockedBy, jobs }, dependencies);
  for (const name of await unpaused(dependencies, finished.followUpJobs)) {
    if (jobs.find(name)?.enabled !== false) await runOther(name);
  }
  return finished;
}

export interface JobPreview {
  job: string;
  steps: Preview[];
}

/** What a run would do. */
export interface ChainPreview extends JobPreview {
  /** The needed jobs that would run before it. */
  first: JobPreview[];
}

export async function previewChain(
  { job, options, period }: { job: NamedJob; options: Record<string, unknown>; period?: AskedPeriod },
  jobs: JobLookup,
  dependencies: SyncDependencies,
): Promise<ChainPreview> {
  const first: JobPreview[] = [];
  for (const name of job.needs ?? []) {
    const needed = jobs.find(name);
    if (needed === undefined || (await hasWorked(dependencies.engine, name))) continue;
    first.push({
      job: name,
      steps: await needed.job.preview({ job: name, options: needed.options, dependencies }),
    });
  }
  return { job: job.name, steps: await job.preview({ job: job.name, options, period, dependencies, jobs }), first };
}

/** A follow-up pull is optional, so it does not run while a person has paused the job. */
async function unpaused({ engine }: SyncDependencies, followUpJobs: readonly string[]): Promise<readonly string[]> {
  if (followUpJobs.length === 0) return followUpJobs;
  const controls = await readControls(engine);
  return followUpJobs.filter((name) => controls.get(name)?.paused !== true);
}

/** If a needed job failed, the run is not made. It ends with the same error code and hint, and is tried again like that job. */
function failureOfNeeded(name: string, run: FinishedRun | undefined): RoadbookError | undefined {
  const error = run?.summary.status === 'failed' ? run.summary.error : null;
  if (error === null) return undefined;
  const Failure = run?.retryAt === null ? Fatal : Retriable;
  return new Failure(`${name} has to succeed first: ${error.message}`, {
    code: error.code,
    hint: error.hint ?? undefined,
  });
}

/** Keyed by warehouse, not by dependencies: a configuration reload makes new dependencies while old runs continue. */
const runsInProgress = new WeakMap<Engine, Map<string, Promise<FinishedRun>>>();

async function runOnce(request: RunRequest, dependencies: SyncDependencies): Promise<FinishedRun> {
  const runs = runsInProgress.get(dependencies.engine) ?? new Map<string, Promise<FinishedRun>>();
  runsInProgress.set(dependencies.engine, runs);
  const { name } = request.job;
  const running = runs.get(name);
  if (running !== undefined) return running;
  const run = runLeased(request, dependencies).finally(() => runs.delete(name));
  runs.set(name, run);
  return run;
}
