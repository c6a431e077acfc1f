// A schedule: five cron fields, or six with seconds first, as node-cron understands them.
import { validateDetailed } from 'node-cron';
import { z } from 'zod';

const HINT = 'for example `*/10 * * * *` (every 10 minutes) or `0 6 * * *` (daily at 06:00)';

const FIELD_NAMES: Readonly<Record<string, string>> = {
  dayOfMonth: 'day of month',
  dayOfWeek: 'day of week',
};

export const cronSchedule = z
  .string()
  .superRefine((schedule, context) => {
    const message = faultOf(schedule);
    if (message !== undefined) context.addIssue({ code: 'custom', message, params: { hint: HINT } });
  })
  .meta({ title: 'cron schedule', examples: ['*/10 * * * *', '0 6 * * *'] });

function faultOf(schedule: string): string | undefined {
  const count = schedule.trim() === '' ? 0 : schedule.trim().split(/\s+/).length;
  // node-cron also takes nicknames such as `@daily`; the contract knows fields only.
  if (count !== 5 && count !== 6) return `a schedule has 5 fields, or 6 with seconds first, not ${count}`;
  const { valid, errors } = validateDetailed(schedule);
  if (valid) return undefined;
  const fields = errors.map(({ field }) => FIELD_NAMES[field] ?? field);
  return `is not a valid schedule: the field ${fields.join(', ')} is wrong`;
}
