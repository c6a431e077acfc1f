// Answers of the probe that cost records or calls: a listing that is cut off, and a configuration that does not fit the service.
import type { Config } from '../../config/schema.ts';
import { formatDuration, parseDuration } from '../../core/time/durations.ts';
import { isAsked, isOpen, newestAnswers, QUESTIONS, type Question } from '../../sync/probe/answers.ts';
import { isProbing } from '../../sync/verify/nightly-probe.ts';
import type { VerifyOptions } from '../../sync/verify/run.ts';
import type { Engine } from '../../warehouse/engine.ts';

type FittedConfig = Pick<Config, 'jobs' | 'service'>;

/** Undefined if the answer fits. */
type Contradiction = (answer: string, config: FittedConfig) => { found: string; hint: string } | undefined;

const cutOff =
  (found: string): Contradiction =>
  (answer) =>
    isOpen(answer) ? undefined : { found, hint: 'Ask the provider for a higher limit.' };

const UNLISTED = 'further records are not read, and none that is gone is marked as missing';

const CONTRADICTIONS: Partial<Record<Question, Contradiction>> = {
  plan_listing: cutOff('a search of a day, and of `longest` around it, that has more plans is not read completely'),
  vehicle_listing: cutOff(UNLISTED),
  agent_listing: cutOff(UNLISTED),
  driver_listing: cutOff(UNLISTED),
  point_of_interest_listing: cutOff(UNLISTED),
  renewal: (answer, { service: { renewal } }) =>
    renewal === 'auto' || renewal === 'login' || answer.split(', ').includes(renewal)
      ? undefined
      : { found: `service.renewal is ${renewal}, which the service rejects`, hint: 'Set service.renewal: auto.' },
  import_delay(answer, { jobs }) {
    const settle = (jobs['push-route-plans']?.options as { settle?: number } | undefined)?.settle;
    const delay = parseDuration(answer);
    return settle === undefined || delay === undefined || delay <= settle
      ? undefined
      : {
          found: `push-route-plans sends a plan again that is not listed after ${formatDuration(settle)}`,
          hint: 'Raise `settle` of push-route-plans above this delay, unless the job did not run for so long: its runs see a plan at their ticks.',
        };
  },
};

export const contradictionOf = (question: Question, answer: string, config: FittedConfig) =>
  CONTRADICTIONS[question]?.(answer, config);

export interface UnfitAnswer {
  question: Question;
  text: string;
  hint: string;
}

/**
 * None if no job makes the probe every night: then nothing would ever show that the answer fits. The delay of imports is none
 * either: it is the longest of 30 days, also if only the daemon was stopped, and nobody could end it.
 */
export async function unfitAnswers(engine: Engine, config: FittedConfig): Promise<UnfitAnswer[]> {
  const { enabled = false, options = {} } = config.jobs['verify-warehouse'] ?? {};
  if (!enabled || !isProbing(options as unknown as VerifyOptions)) return [];
  const isEnabled = (job: string): boolean => config.jobs[job]?.enabled === true;
  return (await newestAnswers(engine)).flatMap(({ question, answer, at }) => {
    const isReason = question !== 'import_delay' && isAsked(question, isEnabled);
    const wrong = isReason ? contradictionOf(question, answer, config) : undefined;
    if (wrong === undefined) return [];
    return [{ question, text: `${QUESTIONS[question]}: ${answer} (found ${at}); ${wrong.found}`, hint: wrong.hint }];
  });
}
