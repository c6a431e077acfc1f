// One job: its state, options, tables, and its last runs as equal cells.
import { Hono } from 'hono';
import { publicConfig } from '../../config/secrets.ts';
import { latestRuns, type RunRow } from '../../warehouse/control/runs.ts';
import { schedulePreview } from '../capacity/schedule-preview.ts';
import type { JobStatus } from '../health/job-status.ts';
import type { StatusFacts } from '../health/status-document.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { knownJob } from './actions.ts';
import { asWritten, durationsOf } from './config.ts';
import { runSize } from './runs.ts';

const CELLS = 60;

export function jobs(dependencies: StatusServerDependencies, facts: () => Promise<StatusFacts>): Hono {
  const { engine, clock, running } = dependencies;
  const app = new Hono();
  app.get('/jobs/:job', async (c) => {
    const { name, meaning, tables } = knownJob(c.req.param('job'), dependencies);
    const { document, readAt } = await facts();
    const status = document.jobs.find((each) => each.name === name) as JobStatus;
    const runs = await latestRuns(engine, name, CELLS);
    const failed = runs.find(({ error }) => error !== null);
    const { enabled, paused, schedule: cron, timezone } = status;
    return c.json({
      ...status,
      meaning,
      options: asWritten(publicConfig(running().config).jobs[name]?.options ?? {}, durationsOf(dependencies.jobs)),
      days: enabled && !paused ? schedulePreview({ cron, timezone }, clock.now()) : [],
      tables: document.tables
        .filter((table) => tables.some((each) => each.name === table.name))
        .map((table) => ({ ...table, read_at: readAt[table.name] ?? null })),
      reasons: document.reasons.filter(({ subject }) => subject === `job ${name}`),
      last_error: failed === undefined ? null : errorOf(failed),
      /** Oldest first. */
      runs: runs.map((run) => ({ ...run, ...runSize(run) })).toReversed(),
    });
  });
  return app;
}

const errorOf = ({ run_id, started_at, error_code, error, error_hint }: RunRow) => ({
  run_id,
  at: started_at,
  code: error_code,
  message: error,
  hint: error_hint,
});
