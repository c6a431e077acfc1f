// For BI: which of the last days are final, whether each table is as fresh as the schedule of its job promises, and what
// its last verification found.
import { Hono } from 'hono';
import { DAY_MS } from '../../core/time/durations.ts';
import { localDate, periodOf } from '../../core/time/local-days.ts';
import { quarantineCounts } from '../../warehouse/control/quarantine.ts';
import { lastVerifications } from '../../warehouse/control/verification.ts';
import { dayStatuses } from '../../warehouse/queries/day-status.ts';
import { isOverdue } from '../health/health.ts';
import type { JobStatus } from '../health/job-status.ts';
import type { StatusFacts } from '../health/status-document.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';

const DAYS = 30;

export function days(
  { engine, clock, jobs, running }: StatusServerDependencies,
  facts: () => Promise<StatusFacts>,
): Hono {
  const app = new Hono();
  app.get('/days', async (c) => {
    const { document, readAt } = await facts();
    const { timezone } = running().config;
    const first = localDate(clock.now() - (DAYS - 1) * DAY_MS, timezone);
    const rows = await dayStatuses(engine, { first, last: localDate(clock.now(), timezone) });
    const verified = new Map((await lastVerifications(engine)).map(({ table, ...found }) => [table, found]));
    const inQuarantine = await quarantineCounts(engine);
    const byDay = Map.groupBy(rows, ({ day }) => day);
    return c.json({
      timezone,
      /** Newest first. */
      days: [...byDay].map(([day, rows]) => ({
        day,
        ends_at: periodOf(day, timezone).to,
        tables: rows.map(({ day: _, ...row }) => row),
      })),
      tables: document.tables.map(({ name, rows, last_change_at }) => {
        const job = jobs.find(({ tables }) => tables.some((table) => table.name === name))?.name;
        const status = document.jobs.find((each) => each.name === job);
        const read_until = readAt[name] ?? null;
        return {
          name,
          rows,
          last_change_at,
          read_until,
          job,
          verdict: freshness(read_until, status, clock.now()),
          /** Records that the figures of any day may lack: an invalid record may have no day that can be read. */
          in_quarantine: inQuarantine.get(name) ?? 0,
          verified: verified.get(name) ?? null,
          drift_ratio: document.verification.find(({ table }) => table === name)?.drift_ratio ?? null,
        };
      }),
    });
  });
  return app;
}

/** `late` by the job's own schedule: the job is late or failing, or a whole period has passed without a reading. */
function freshness(readUntil: string | null, job: JobStatus | undefined, nowMs: number) {
  if (readUntil === null) return 'not read yet';
  if (job === undefined || job.health === 'paused') return 'paused';
  const schedule = { cron: job.schedule, timezone: job.timezone, nowMs };
  const isLate = job.health === 'late' || job.health === 'failing' || isOverdue(schedule, Date.parse(readUntil), 2);
  return isLate ? 'late' : 'fresh';
}
