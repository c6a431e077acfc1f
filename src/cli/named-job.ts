// Finds jobs by name for the commands. An unknown name is a usage error that suggests the nearest job.
import type { App } from '../app/app.ts';
import type { JobSettings } from '../config/schema.ts';
import { suggest } from '../core/text/near-word.ts';
import type { ScheduledJob } from '../schedule/scheduler.ts';
import type { JobLookup, NamedJob } from '../sync/job.ts';
import { usageError } from './command.ts';

export function namedJob(app: App, name: string): { job: NamedJob; settings: JobSettings } {
  const found = findJob(app, name);
  if (found !== undefined) return found;
  const names = app.jobs.map((each) => each.name);
  throw usageError(`There is no job named ${JSON.stringify(name)}`, suggest(name, names));
}

function findJob(app: App, name: string): { job: NamedJob; settings: JobSettings } | undefined {
  const job = app.jobs.find((each) => each.name === name);
  const settings = app.loaded.config.jobs[name];
  return job && settings && { job, settings };
}

/** Finds the jobs that a run depends on. */
export const jobLookup = (app: App): JobLookup => ({
  names: app.jobs.map(({ name }) => name),
  find(name) {
    const found = findJob(app, name);
    return found && { job: found.job, options: found.settings.options, enabled: found.settings.enabled };
  },
});

export const enabledJobs = (app: App): ScheduledJob[] =>
  Object.entries(app.loaded.config.jobs)
    .filter(([, job]) => job.enabled)
    .map(([name, job]) => ({ name, cron: job.schedule, timezone: job.timezone }));

/** How long the rows of each table are kept, ms. A table without an entry is kept for ever, and every table if no job deletes. */
export function retentionOf(app: App): Readonly<Record<string, number>> {
  const { enabled = false, options } = app.loaded.config.jobs['maintain-warehouse'] ?? {};
  return enabled ? (options?.retention as Record<string, number>) : {};
}
