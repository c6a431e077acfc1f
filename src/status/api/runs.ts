// The runs: the last day as a timeline, a list by page, and one run with all its facts and last log lines.

import { Hono } from 'hono';
import { z } from 'zod';
import { isoInstant } from '../../core/time/clock.ts';
import { DAY_MS } from '../../core/time/durations.ts';
import { type RunRow, runNamed, searchRuns } from '../../warehouse/control/runs.ts';
import { ApiError } from '../server/api-error.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { PAGE_ROWS, page, paged, query, text } from './page-query.ts';

/** The timeline shows at most this many runs, the newest ones. */
const MOST_BARS = 5_000;

/** The size of a run in a chart: its duration, null while it runs, and the rows that it changed or items that it sent. */
export const runSize = ({ started_at, finished_at, inserted, updated, sent }: RunRow) => ({
  seconds: finished_at === null ? null : (Date.parse(finished_at) - Date.parse(started_at)) / 1_000,
  rows: Math.max(inserted + updated, sent),
});

export function runs(dependencies: StatusServerDependencies): Hono {
  const { engine, clock, jobs, logTail } = dependencies;
  const all = jobs.map(({ name }) => name);
  const app = new Hono();

  app.get('/timeline', async (c) => {
    const from = isoInstant(clock.now() - DAY_MS);
    const found = await searchRuns(engine, { jobs: all, since: from, limit: MOST_BARS + 1 });
    const bars = found.slice(0, MOST_BARS).map((run) => ({
      run_id: run.run_id,
      job: run.job,
      status: run.status,
      started_at: run.started_at,
      seconds: runSize(run).seconds,
    }));
    return c.json({ from, to: isoInstant(clock.now()), jobs: all, bars, cut: found.length > MOST_BARS });
  });

  app.get('/runs', async (c) => {
    const params = query(c, { page, job: text, status: text });
    const found = await searchRuns(engine, {
      jobs: params.job === undefined ? all : [params.job],
      statuses: params.status?.split(','),
      limit: PAGE_ROWS + 1,
      offset: params.page * PAGE_ROWS,
    });
    return c.json(paged(found, params.page));
  });

  app.get('/run', async (c) => {
    const { id } = query(c, { id: z.string().max(64) });
    const run = await runNamed(engine, id);
    if (run === undefined) throw new ApiError(404, 'not_found', 'No such run', 'Old runs are deleted after a while.');
    return c.json({ ...run, log: logTail.linesOf(id) });
  });
  return app;
}
