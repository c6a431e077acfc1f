// `jobs`: one optional entry for each job. Every entry has three common keys and the job's own options, which the job
// declares.
import { validateDetailed } from 'node-cron';
import { z } from 'zod';
import { checkedText, section, setting } from './section.ts';
import { timeZone } from './time-zone.ts';

export interface JobDeclaration {
  schedule: string;
  /** The job's own options, each with a default. */
  options: z.ZodObject;
}

export function jobsSection(jobs: Readonly<Record<string, JobDeclaration>>) {
  const sorted = Object.entries(jobs).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const shape = Object.fromEntries(sorted.map(([name, declared]) => [name, jobSection(name, declared)]));
  return section(z.strictObject(shape)).describe('One entry for each job; a job without an entry uses its defaults.');
}

function jobSection(name: string, { schedule, options }: JobDeclaration) {
  const entry = options
    .safeExtend({
      enabled: setting(z.boolean(), true, 'Whether the scheduler runs the job'),
      schedule: setting(cronSchedule, schedule, 'When the job runs: five cron fields, or six with seconds first'),
      timezone: timeZone.optional().describe('Time zone of the schedule (default the `timezone` at the top).'),
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

const FIELD_NAMES: Readonly<Record<string, string>> = {
  dayOfMonth: 'day of month',
  dayOfWeek: 'day of week',
};

const cronSchedule = checkedText(
  scheduleError,
  'for example `*/10 * * * *` (every 10 minutes) or `0 6 * * *` (daily at 06:00)',
).meta({ title: 'cron schedule', examples: ['*/10 * * * *', '0 6 * * *'] });

function scheduleError(schedule: string): string | undefined {
  const count = schedule.trim() === '' ? 0 : schedule.trim().split(/\s+/).length;
  // node-cron also accepts nicknames such as `@daily`; Roadbook documents only fields.
  if (count !== 5 && count !== 6) return `a schedule has 5 fields, or 6 with seconds first, not ${count}`;
  const { valid, errors } = validateDetailed(schedule);
  if (valid) return undefined;
  const fields = errors.map(({ field }) => FIELD_NAMES[field] ?? field);
  return `is not a valid schedule: the field ${fields.join(', ')} is wrong`;
}
