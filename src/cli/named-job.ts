// Finds jobs by name for the commands. An unknown name is a usage error that suggests the nearest job.
import type { App } from '../app/app.ts';
import type { JobSettings } from '../config/schema.ts';
import { Fatal } from '../core/errors.ts';
import { suggest } from '../core/text/near-word.ts';
import type { ScheduledJob } from '../schedule/scheduler.ts';
import type { NamedJob } from '../sync/job.ts';
import type { JobLookup } from '../sync/job-chain.ts';

export function namedJob(app: App, name: string): { job: NamedJob; settings: JobSettings } {
  const job = app.jobs.find((each) => each.name === name);
  const settings = app.loaded.config.jobs[name];
  if (job !== undefined && settings !== undefined) return { job, settings };
  const names = app.jobs.map((each) => each.name);
  throw new Fatal(`There is no job named ${JSON.stringify(name)}`, {
    code: 'usage',
    hint: suggest(name, names),
  });
}

/** Finds the jobs that a run depends on. */
export const jobLookup = (app: App): JobLookup => ({
  find(name) {
    const job = app.jobs.find((each) => each.name === name);
    const settings = app.loaded.config.jobs[name];
    if (job === undefined || settings === undefined) return undefined;
    return { job, options: settings.options, enabled: settings.enabled };
  },
});

/** The jobs for the scheduler. */
export const enabledJobs = (app: App): ScheduledJob[] =>
  Object.entries(app.loaded.config.jobs)
    .filter(([, job]) => job.enabled)
    .map(([name, job]) => ({ name, cron: job.schedule, timezone: job.timezone }));
