// The answers of a probe as results of the doctor: a warning where an answer has changed, or where the configuration does
// not fit to it.
import type { Config } from '../../config/schema.ts';
import { formatDuration, parseDuration } from '../../core/time/durations.ts';
import { isOpen, type ProbeAnswer, QUESTIONS, type Question } from '../../sync/probe/answers.ts';
import type { ProbeReport } from '../../sync/probe/probe.ts';
import type { CheckResult } from './check-result.ts';

/** Undefined if the answer fits. */
type Contradiction = (answer: string, config: Config) => { found: string; hint: string } | undefined;

const CONTRADICTIONS: Partial<Record<Question, Contradiction>> = {
  plan_listing: (answer) =>
    isOpen(answer)
      ? undefined
      : {
          found: 'a day with more plans than that is not read completely',
          hint: 'Ask the provider for a higher limit.',
        },
  event_listing: (answer) =>
    isOpen(answer)
      ? undefined
      : {
          found: 'an hour with more events than that is not read completely',
          hint: 'Ask the provider for a higher limit.',
        },
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
          hint: 'Raise `settle` of push-route-plans above this delay.',
        };
  },
};

export const probeChecks = ({ answers, calls }: ProbeReport, config: Config): CheckResult[] => [
  ...answers.map((each) => ({ check: 'probe', ...resultOf(each, config) })),
  { check: 'probe', state: 'ok', found: `${calls} requests, none of which changes a record`, hint: null },
];

function resultOf(
  { question, answer, evidence, was, stored }: ProbeAnswer,
  config: Config,
): Omit<CheckResult, 'check'> {
  const earlier = stored === undefined ? '' : `; found ${stored.at}: ${stored.answer}`;
  const known = `${QUESTIONS[question]}: ${answer ?? 'not known'} (${evidence})${earlier}`;
  const newest = answer ?? stored?.answer;
  const wrong = newest === undefined ? undefined : CONTRADICTIONS[question]?.(newest, config);
  if (wrong !== undefined) return { state: 'warn', found: `${known}; ${wrong.found}`, hint: wrong.hint };
  return was === undefined
    ? { state: 'ok', found: known, hint: null }
    : {
        state: 'warn',
        found: `${known}; it was: ${was}`,
        hint: 'The service has changed: compare the last days with it by `roadbook verify`.',
      };
}
