// The state of everything that somebody is alerted of, in one word each, with a sentence for people. Pure: what is
// wrong is found elsewhere.
import { ATTENTION_REASONS, type OutboxAttention } from '../../sync/push/attention.ts';
import type { DeadlineStatus } from '../health/deadline.ts';
import type { JobStatus } from '../health/status-document.ts';

export interface Condition {
  /** What it is about, unique: `job pull-events`, `outbox found_twice`, `config`. */
  subject: string;
  /** `ok`, or what is wrong; another word is told once. */
  state: string;
  /** A sentence for people, without a record or a secret in it. */
  text: string;
}

/** Only what is wrong by itself alerts: a pause is somebody's wish, and a new job has yet to run. */
export const jobConditions = (jobs: readonly JobStatus[]): Condition[] =>
  jobs.map(({ name, health, last_run, last_success_at }) => {
    const subject = `job ${name}`;
    if (health === 'failing') {
      const why = last_run?.error ?? 'its process ended in the middle of the run';
      return { subject, state: health, text: `${name} is failing: ${why}` };
    }
    if (health === 'late') {
      const since =
        last_success_at === null ? 'it never succeeded' : `its last success was ${last_success_at}`;
      const why =
        last_run?.status === 'partial' && last_run.error !== null
          ? `a part of its last run failed (${last_run.error})`
          : 'a tick passed without a run';
      return { subject, state: health, text: `${name} is late: ${why}; ${since}` };
    }
    return { subject, state: 'ok', text: `${name} is ${health}` };
  });

/** One condition for every reason, so that a second one alerts too. */
export const outboxConditions = (attention: readonly OutboxAttention[]): Condition[] =>
  ATTENTION_REASONS.map((reason) => {
    const subject = `outbox ${reason}`;
    const found = attention.find((each) => each.reason === reason);
    return found === undefined
      ? { subject, state: 'ok', text: `the outbox has no entry that needs a person for ${spaced(reason)}` }
      : { subject, state: reason, text: `${found.text}. Try: ${found.hint}` };
  });

const spaced = (reason: string): string => reason.replaceAll('_', ' ');

export const configCondition = (error: string | null): Condition =>
  error === null
    ? { subject: 'config', state: 'ok', text: 'The configuration file is taken over' }
    : { subject: 'config', state: 'refused', text: `The configuration file was refused: ${error}` };

export function deadlineCondition(deadline: DeadlineStatus | null): Condition {
  const missed = deadline?.missed.length ?? 0;
  return missed === 0
    ? { subject: 'deadline', state: 'ok', text: 'No plan of tomorrow is past its deadline' }
    : {
        subject: 'deadline',
        state: 'missed',
        text: `${missed} ${missed === 1 ? 'plan that starts' : 'plans that start'} tomorrow ${missed === 1 ? 'is' : 'are'} not confirmed by ${deadline?.at}: roadbook status`,
      };
}
