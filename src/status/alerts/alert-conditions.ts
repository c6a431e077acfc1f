// Which reasons raise an alert. Pure: the reasons are those of the page and of `roadbook status`.
import type { Reported } from '../../warehouse/control/alert-store.ts';
import type { Reason } from '../health/reasons.ts';

export interface Condition {
  /** The unique subject: `job pull-events`, `outbox found_twice`, `config`. */
  subject: string;
  /** What is wrong, in one word; `ok` after a recovery. Each change of the state is reported once. */
  state: string;
  /** ISO instant of the newest item, if new ones are reported too. */
  newest: string | null;
  /** A sentence for people. It holds no record and no secret. */
  text: string;
}

/** A pause is intended, a new job has not run yet, and a read-back within ten minutes needs nobody. */
const SILENT: readonly string[] = ['job_paused', 'job_never_ran', 'push_unclear'];

export const alertConditions = (reasons: readonly Reason[]): Condition[] =>
  reasons
    .filter(({ code }) => !SILENT.includes(code))
    .map((reason) => ({
      subject: reason.subject,
      state: stateOf(reason),
      newest: reason.newest ?? null,
      text: reason.hint === null ? reason.text : `${reason.text}. Try: ${reason.hint}`,
    }));

/** The state names what is wrong with the subject, so it leaves out what the subject says already. */
const stateOf = ({ code }: Reason): string => code.replace(/^(job|push|deadline|config|daemon|service)_/, '');

/** The subjects that were reported as wrong and are so no more. */
export function recoveries(reported: ReadonlyMap<string, Reported>, now: readonly Condition[]): Condition[] {
  const wrong = new Set(now.map(({ subject }) => subject));
  return [...reported]
    .filter(([subject, { state }]) => state !== 'ok' && !wrong.has(subject))
    .map(([subject, { state }]) => {
      const text = `${subject.replace(/^job /, '')}: no longer ${state.replaceAll('_', ' ')}`;
      return { subject, state: 'ok', newest: null, text };
    });
}
