// The answers of a probe as results of the doctor: a warning where an answer has changed, or where the configuration does
// not fit to it.
import type { Config } from '../../config/schema.ts';
import { type ProbeAnswer, QUESTIONS } from '../../sync/probe/answers.ts';
import type { ProbeReport } from '../../sync/probe/probe.ts';
import { contradictionOf } from '../health/unfit-answers.ts';
import type { CheckResult } from './check-result.ts';

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
  const wrong = newest === undefined ? undefined : contradictionOf(question, newest, config);
  if (wrong !== undefined) return { state: 'warn', found: `${known}; ${wrong.found}`, hint: wrong.hint };
  return was === undefined
    ? { state: 'ok', found: known, hint: null }
    : {
        state: 'warn',
        found: `${known}; it was: ${was}`,
        hint: 'The service has changed: compare the last days with it by `roadbook verify`.',
      };
}
