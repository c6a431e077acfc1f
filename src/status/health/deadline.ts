// The deadline of the route plans as the status shows it, from the configuration and the warehouse alone: the page,
// the alerts and the command tell the same.
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/time/clock.ts';
import { plansOfTomorrow } from '../../sync/push/deadline.ts';
import type { Engine } from '../../warehouse/engine.ts';
import type { Health } from './health.ts';

export interface DeadlineStatus {
  /** Local time by which what starts tomorrow has to be confirmed. */
  at: string;
  /** ISO instant of today's. */
  due_at: string;
  /** Plans that start tomorrow and are confirmed. */
  confirmed: number;
  /** Plans that start tomorrow and are neither confirmed nor cancelled. */
  open: number;
  /** Codes of the open ones, once the deadline has passed. */
  missed: string[];
}

interface DeadlineDependencies {
  config: Config;
  engine: Engine;
  clock: Clock;
}

const GUARDED_JOB = 'push-route-plans';

/** Null where the configuration names no deadline, or the job does not run. */
export async function deadlineStatus(dependencies: DeadlineDependencies): Promise<DeadlineStatus | null> {
  const { config, engine, clock } = dependencies;
  const { enabled = false, options } = config.jobs[GUARDED_JOB] ?? {};
  const at = options?.deadline;
  if (!enabled || typeof at !== 'string') return null;
  const question = { deadline: at, timezone: config.timezone, now: clock.now() };
  const { dueAt, isPast, confirmed, open } = await plansOfTomorrow(engine, question);
  const missed = isPast ? open.map(({ external_code }) => external_code) : [];
  return { at, due_at: dueAt, confirmed, open: open.length, missed };
}

/** Plans of tomorrow that the service does not have are something late, whatever the jobs say. */
export const deadlineHealth = (deadline: DeadlineStatus | null): Health =>
  deadline !== null && deadline.missed.length > 0 ? 'late' : 'ok';
