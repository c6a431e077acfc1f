// The data of the first view: the status document with more details for people. It holds instants, not ages, so that
// its text stays the same while nothing happens.
import { pushedKindOf } from '../../sync/push/kind.ts';
import { latestRuns } from '../../warehouse/control/runs.ts';
import type { JobStatus } from '../health/job-status.ts';
import type { StatusFacts } from '../health/status-document.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { runSize } from './runs.ts';

/** Runs of a job in the small charts. */
const RECENT_RUNS = 30;

export async function overview(
  { document, readAt, unknownSince }: StatusFacts,
  dependencies: StatusServerDependencies,
) {
  const { at: _, ...lasting } = document;
  return {
    ...lasting,
    unknownSince,
    timezone: dependencies.running().config.timezone,
    jobs: await Promise.all(document.jobs.map((job) => overviewJob(job, dependencies))),
    tables: document.tables.map(({ freshness_seconds: _, ...table }) => ({
      ...table,
      read_at: readAt[table.name] ?? null,
    })),
  };
}

async function overviewJob(status: JobStatus, { engine, jobs, running }: StatusServerDependencies) {
  const job = jobs.find(({ name }) => name === status.name);
  const kind = pushedKindOf(status.name);
  const runs = await latestRuns(engine, status.name, RECENT_RUNS);
  // A run under way has no error yet: until it ends, that of the run before it is shown.
  const ended = runs.find(({ run_id }) => run_id === status.last_end?.run_id);
  return {
    ...status,
    meaning: job?.meaning ?? '',
    tables: (job?.tables ?? []).map(({ name }) => name),
    /** A push job that has nothing to read from: its runs are ok and push nothing. */
    is_without_feed: kind !== undefined && running().config.erp[kind] === undefined,
    error_code: ended?.error_code ?? null,
    hint: ended?.error_hint ?? null,
    // Oldest first.
    recent: runs
      .map((run) => ({ run_id: run.run_id, status: run.status, started_at: run.started_at, ...runSize(run) }))
      .toReversed(),
  };
}
