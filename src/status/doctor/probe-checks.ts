// The answers of a probe as results of the doctor: a warning where an answer has changed, or where the configuration does
// not fit to it.
import type { Config } from '../../config/schema.ts';
import { type ProbeAnswer, QUESTIONS } from '../../sync/probe/answers.ts';
import type { ProbeReport } from '../../sync/probe/probe.ts';
import { contradictionOf } from '../health/unfit-answers.ts';
import { type CheckOutcome, ok, warn } from './check-result.ts';

export const probeChecks = ({ answers, calls }: ProbeReport, config: Config): CheckOutcome[] => [
  ...answers.map((each) => outcomeOf(each, config)),
  ok(`${calls} requests, none of which changes a record`),
];

function outcomeOf({ question, answer, evidence, was, stored }: ProbeAnswer, config: Config): CheckOutcome {
  const earlier = stored === undefined ? '' : `; found ${stored.at}: ${stored.answer}`;
  const known = `${QUESTIONS[question]}: ${answer ?? 'not known'} (${evidence})${earlier}`;
  const newest = answer ?? stored?.answer;
  const wrong = newest === undefined ? undefined : contradictionOf(question, newest, config);
  if (wrong !== undefined) return warn(`${known}; ${wrong.found}`, wrong.hint);
  if (was === undefined) return ok(known);
  return warn(
    `${known}; it was: ${was}`,
    'The service has changed: compare the last days with it by `roadbook verify`.',
  );
}
