// The data of the first view: the status document with more details for people. It holds instants, not ages, so that
// its text stays the same while nothing happens.
import type { NamedJob } from '../../sync/job.ts';
import { latestRuns, type RunRow } from '../../warehouse/control/runs.ts';
import type { JobStatus, StatusDocument, StatusFacts } from '../health/status-document.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';

/** Runs of a job in the small charts. */
const RECENT_RUNS = 30;

export interface RecentRun {
  run_id: string;
  status: string;
  started_at: string;
  /** Null while it runs. */
  seconds: number | null;
  /** Rows written or items sent, whichever is more. */
  rows: number;
}

export interface OverviewJob extends JobStatus {
  meaning: string;
  tables: string[];
  hint: string | null;
  /** Oldest first. */
  recent: RecentRun[];
}

export interface Overview extends Omit<StatusDocument, 'jobs' | 'tables'>, Pick<StatusFacts, 'unknownSince'> {
  timezone: string;
  jobs: OverviewJob[];
  tables: { name: string; rows: number; last_change_at: string | null; read_at: string | null }[];
}

export async function overview(
  { document, readAt, unknownSince }: StatusFacts,
  dependencies: Pick<StatusServerDependencies, 'engine' | 'jobs' | 'running'>,
): Promise<Overview> {
  const jobs = await Promise.all(
    document.jobs.map((job) =>
      overviewJob(
        job,
        dependencies.jobs.find(({ name }) => name === job.name),
        dependencies,
      ),
    ),
  );
  return {
    ...document,
    unknownSince,
    timezone: dependencies.running().config.timezone,
    jobs,
    tables: document.tables.map(({ freshness_seconds: _, ...table }) => ({
      ...table,
      read_at: readAt[table.name] ?? null,
    })),
  };
}

async function overviewJob(
  status: JobStatus,
  job: NamedJob | undefined,
  { engine }: Pick<StatusServerDependencies, 'engine'>,
): Promise<OverviewJob> {
  const runs = await latestRuns(engine, status.name, RECENT_RUNS);
  return {
    ...status,
    meaning: job?.meaning ?? '',
    tables: (job?.tables ?? []).map(({ name }) => name),
    hint: runs.find(({ run_id }) => run_id === status.last_run?.run_id)?.error_hint ?? null,
    recent: runs.map(recentRun).toReversed(),
  };
}

const recentRun = (run: RunRow): RecentRun => ({
  run_id: run.run_id,
  status: run.status,
  started_at: run.started_at,
  seconds: run.finished_at === null ? null : (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1_000,
  rows: Math.max(run.inserted + run.updated, run.sent),
});
