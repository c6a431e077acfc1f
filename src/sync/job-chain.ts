// A run with what belongs before and after it: jobs it needs that never succeeded run first, dimensions that its
// facts named and that were not there are pulled next. Neither goes further than one step.
import { jobHistory } from '../warehouse/run-log.ts';
import type { NamedJob } from './job.ts';
import { type FinishedRun, type RunRequest, runJob } from './run.ts';
import type { SyncParts } from './sync-parts.ts';

export interface JobBook {
  /** A job by name with its own options; undefined for a name that is none. */
  find(name: string): { job: NamedJob; options: Record<string, unknown> } | undefined;
}

export async function runChain(request: RunRequest, book: JobBook, parts: SyncParts): Promise<FinishedRun> {
  const also = async (name: string): Promise<void> => {
    const found = book.find(name);
    const { signal, draining } = request;
    if (found === undefined || signal?.aborted === true || draining?.aborted === true) return;
    await runJob({ ...found, cause: 'catch-up', signal, draining }, parts);
  };
  for (const name of request.job.needs ?? []) {
    if ((await jobHistory(parts.engine, name)).lastSuccessAt === null) await also(name);
  }
  const finished = await runJob(request, parts);
  for (const name of finished.wants) await also(name);
  return finished;
}
