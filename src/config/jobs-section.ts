// `jobs`: one entry a job, each optional. Beside the three keys that every job has stand the job's own
// options, which come from its declaration.
import { z } from 'zod';
import { cronSchedule } from './cron-schedule.ts';
import { section } from './section.ts';
import { timeZone } from './time-zone.ts';

export interface JobPart {
  /** The declared schedule, which holds unless the file gives another. */
  schedule: string;
  /** The job's own options, each with a default. */
  options: z.ZodObject;
}

export function jobsSection(jobs: Readonly<Record<string, JobPart>>) {
  const names = Object.keys(jobs).toSorted();
  const shape: Record<string, ReturnType<typeof jobSection>> = {};
  for (const name of names) {
    const part = jobs[name];
    if (part !== undefined) shape[name] = jobSection(name, part);
  }
  return section(z.strictObject(shape)).describe('One entry a job; a job without one takes its defaults.');
}

function jobSection(name: string, { schedule, options }: JobPart) {
  const entry = options
    .safeExtend({
      enabled: z.boolean().default(true).describe('Whether the job runs by itself (default true).'),
      schedule: cronSchedule
        .default(schedule)
        .describe(`When it runs: five cron fields, or six with seconds first (default ${schedule}).`),
      timezone: timeZone
        .optional()
        .describe('Time zone of the schedule (default the `timezone` at the top).'),
    })
    .strict();
  return section(entry)
    .transform((value) => {
      const { enabled, schedule, timezone, ...own } = value as JobKeys & Record<string, unknown>;
      return { enabled, schedule, timezone, options: own as Record<string, unknown> };
    })
    .describe(`The job ${name}.`);
}

interface JobKeys {
  enabled: boolean;
  schedule: string;
  timezone?: string | undefined;
}
