// The conditions that can raise an alert: a state in one word and a sentence for people. Pure: the facts are read
// elsewhere.
import { ATTENTION_REASONS, type OutboxAttention } from '../../sync/push/attention.ts';
import type { TableDrift } from '../../warehouse/control/verification.ts';
import type { DeadlineStatus } from '../health/deadline.ts';
import type { JobStatus } from '../health/status-document.ts';

export interface Condition {
  /** The unique subject: `job pull-events`, `outbox found_twice`, `config`. */
  subject: string;
  /** `ok`, or what is wrong. Each change of the state is reported once. */
  state: string;
  /** A sentence for people. It holds no record and no secret. */
  text: string;
}

/** Only `failing` and `late` alert: a pause is intended, and a new job has not run yet. */
export const jobConditions = (jobs: readonly JobStatus[]): Condition[] =>
  jobs.map(({ name, health, last_run, last_success_at }) => {
    const subject = `job ${name}`;
    if (health === 'failing') {
      const why = last_run?.error ?? 'its process ended during the run';
      return { subject, state: health, text: `${name} is failing: ${why}` };
    }
    if (health === 'late') {
      const since = last_success_at === null ? 'it has never succeeded' : `its last success was ${last_success_at}`;
      const why =
        last_run?.status === 'partial' && last_run.error !== null
          ? `a part of its last run failed (${last_run.error})`
          : 'a scheduled run is missing';
      return { subject, state: health, text: `${name} is late: ${why}; ${since}` };
    }
    return { subject, state: 'ok', text: `${name} is ${health}` };
  });

/** One condition for each reason, so that a second reason alerts too. */
export const outboxConditions = (attention: readonly OutboxAttention[]): Condition[] =>
  ATTENTION_REASONS.map((reason) => {
    const subject = `outbox ${reason}`;
    const found = attention.find((each) => each.reason === reason);
    return found === undefined
      ? { subject, state: 'ok', text: `no outbox entry needs a person because of: ${reason.replaceAll('_', ' ')}` }
      : { subject, state: reason, text: `${found.text}. Try: ${found.hint}` };
  });

export const configCondition = (error: string | null): Condition =>
  error === null
    ? { subject: 'config', state: 'ok', text: 'The configuration file is in effect' }
    : { subject: 'config', state: 'refused', text: `The configuration file was rejected: ${error}` };

export function deadlineCondition(deadline: DeadlineStatus | null): Condition {
  const missed = deadline?.missed.length ?? 0;
  return missed === 0
    ? { subject: 'deadline', state: 'ok', text: 'No plan for tomorrow has missed the deadline' }
    : {
        subject: 'deadline',
        state: 'missed',
        text: `${missed} ${missed === 1 ? 'plan that starts' : 'plans that start'} tomorrow ${missed === 1 ? 'is' : 'are'} not confirmed by ${deadline?.at}: roadbook status`,
      };
}

/** `drifted`: the tables whose drift is above the limit. */
export const driftCondition = (drifted: readonly TableDrift[]): Condition =>
  drifted.length === 0
    ? { subject: 'drift', state: 'ok', text: 'No verified table differs from the service in its final days' }
    : {
        subject: 'drift',
        state: drifted.map(({ table }) => table).join(' '),
        text: `${drifted.map(driftText).join('; ')}. See bi_verification, or run: roadbook verify`,
      };

const driftText = ({ table, drifted, compared }: TableDrift): string =>
  `${drifted} of ${compared} verified rows of ${table} differed from the service although their days are final`;
