// The status of the route plan deadline, read from the configuration and the warehouse only, so that the page, the
// alerts and the command agree.
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/time/clock.ts';
import { plansByDeadline } from '../../sync/push/deadline.ts';
import type { Engine } from '../../warehouse/engine.ts';

export type DeadlineStatus = NonNullable<Awaited<ReturnType<typeof deadlineStatus>>>;

const DEADLINE_JOB = 'push-route-plans';

/** Null if no deadline is configured or the job is disabled. */
export async function deadlineStatus(from: { config: Config; engine: Engine; clock: Clock }) {
  const { config, engine, clock } = from;
  const { enabled = false, options } = config.jobs[DEADLINE_JOB] ?? {};
  const at = options?.deadline;
  if (!enabled || typeof at !== 'string') return null;
  const question = { deadline: at, timezone: config.timezone, now: clock.now() };
  const { dueAt, day, confirmed, open, missed, newest } = await plansByDeadline(engine, question);
  return {
    /** Local time by which the plans for tomorrow must be confirmed. */
    at,
    due_at: dueAt,
    day,
    confirmed,
    open,
    /** Codes of the plans that missed the deadline of the day before they start. */
    missed: missed.map(({ external_code }) => external_code),
    newest,
  };
}
