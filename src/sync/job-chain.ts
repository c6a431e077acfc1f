// A run with what belongs before and after it: jobs it needs that never succeeded run first, dimensions that its
// facts named and that were not there are pulled next. Neither goes further than one step. Who asks for a job that is
// under way in this process gets that run; other processes are kept apart by the lease.
import { Fatal } from '../core/errors.ts';
import { readControls } from '../warehouse/control/job-controls.ts';
import { hasWorked } from '../warehouse/control/runs.ts';
import type { Engine } from '../warehouse/engine.ts';
import type { SyncDependencies } from './dependencies.ts';
import type { NamedJob, Preview } from './job.ts';
import { runLeased } from './leased-run.ts';
import type { FinishedRun, RunRequest } from './run.ts';
import type { AskedPeriod } from './slice.ts';

export interface JobLookup {
  /** A job by name with its own options; undefined for a name that is none. */
  find(name: string): { job: NamedJob; options: Record<string, unknown>; enabled?: boolean } | undefined;
}

export async function runChain(
  request: RunRequest,
  book: JobLookup,
  dependencies: SyncDependencies,
): Promise<FinishedRun> {
  const { signal, draining } = request;
  const also = async (name: string): Promise<FinishedRun | undefined> => {
    const found = book.find(name);
    if (found === undefined || signal?.aborted === true || draining?.aborted === true) return undefined;
    const { job, options } = found;
    return runAlone({ job, options, cause: 'catch-up', signal, draining }, dependencies);
  };
  let refusal: Fatal | undefined;
  for (const name of request.job.needs ?? []) {
    if (await hasWorked(dependencies.engine, name)) continue;
    refusal ??= missingNeed(name, await also(name));
  }
  const finished = await runAlone({ ...request, refusal }, dependencies);
  for (const name of await unpaused(dependencies, finished.wants)) {
    if (book.find(name)?.enabled !== false) await also(name);
  }
  return finished;
}

export interface JobPreview {
  job: string;
  steps: Preview[];
}

/** What a run would do, after the jobs that it needs and that would run before it. */
export interface ChainPreview extends JobPreview {
  first: JobPreview[];
}

export async function previewChain(
  { job, options, period }: { job: NamedJob; options: Record<string, unknown>; period?: AskedPeriod },
  book: JobLookup,
  dependencies: SyncDependencies,
): Promise<ChainPreview> {
  const first: JobPreview[] = [];
  for (const name of job.needs ?? []) {
    const needed = book.find(name);
    if (needed === undefined || (await hasWorked(dependencies.engine, name))) continue;
    first.push({
      job: name,
      steps: await needed.job.preview({ job: name, options: needed.options, dependencies }),
    });
  }
  return { job: job.name, steps: await job.preview({ job: job.name, options, period, dependencies }), first };
}

/** What is only nice to have now is not run against an order. */
async function unpaused({ engine }: SyncDependencies, wants: readonly string[]): Promise<readonly string[]> {
  if (wants.length === 0) return wants;
  const controls = await readControls(engine);
  return wants.filter((name) => controls.get(name)?.paused !== true);
}

/** What the run is refused for where a job that it needs has failed; it ends as that job did. */
function missingNeed(name: string, run: FinishedRun | undefined): Fatal | undefined {
  const error = run?.summary.status === 'failed' ? run.summary.error : null;
  if (error === null) return undefined;
  return new Fatal(`${name} has to succeed first: ${error.message}`, {
    code: error.code,
    hint: error.hint ?? undefined,
  });
}

/** By warehouse, not by parts: an edit of the configuration makes new parts while runs on the old ones go on. */
const underWay = new WeakMap<Engine, Map<string, Promise<FinishedRun>>>();

async function runAlone(request: RunRequest, dependencies: SyncDependencies): Promise<FinishedRun> {
  const runs = underWay.get(dependencies.engine) ?? new Map<string, Promise<FinishedRun>>();
  underWay.set(dependencies.engine, runs);
  const { name } = request.job;
  const running = runs.get(name);
  if (running !== undefined) return running;
  const run = runLeased(request, dependencies).finally(() => runs.delete(name));
  runs.set(name, run);
  return run;
}
