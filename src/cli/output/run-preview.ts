// The output of `run --dry-run`: the steps, the number of calls, and in words the calls that cannot be counted in advance.
import type { Preview } from '../../sync/job.ts';
import type { ChainPreview, JobPreview } from '../../sync/job-chain.ts';
import { print, say } from '../command.ts';

export function showPreview({ first, ...own }: ChainPreview, json: boolean): undefined {
  // The jobs that run first change the data, so the steps of the job itself are not final.
  const document = { ...counted(own), first: first.map(counted) };
  if (first.length > 0) document.exact = false;
  if (json) return void print(JSON.stringify(document, null, 2));
  for (const step of [...first, own].flatMap(({ steps }) => steps)) print(`${step.what}  ${detailOf(step)}`);
  for (const each of document.first)
    say(`${each.job} would run first, because it has never succeeded: ${inWords(each)}.`);
  say(`${own.job} would ${first.length > 0 ? laterWords(document) : `take ${inWords(document)}`}; nothing was done.`);
}

/** Shows only the calls of a slice: its detail may list hundreds of vehicles. The JSON output has it. */
const detailOf = ({ calls, detail }: Preview): string =>
  calls === undefined ? JSON.stringify(detail) : amount(calls, 'call');

function laterWords({ first, ...own }: ReturnType<typeof counted> & { first: JobPreview[] }): string {
  const names = first.map(({ job }) => job).join(' and ');
  const known = own.steps.length > 0 ? `; known so far: ${inWords(own)}` : '';
  return `follow with steps that depend on the result of ${names} and are not known yet${known}`;
}

const counted = ({ job, steps }: JobPreview) => ({
  job,
  calls: steps.reduce((sum, { calls }) => sum + (calls ?? 0), 0),
  /** Apart from retries, the run makes exactly these calls. */
  exact: steps.every(isExact),
  /** Additional calls, in words. */
  further: [...new Set(steps.flatMap(({ further }) => further ?? []))],
  steps,
});

const isExact = ({ calls, further }: Preview): boolean => calls !== undefined && further === undefined;

function inWords({ calls, exact, further, steps }: ReturnType<typeof counted>): string {
  // A push counts no calls in advance: a read-back may need any number of pages.
  if (steps.length > 0 && steps.every((step) => step.calls === undefined)) {
    const groups = [...Map.groupBy(steps, ({ what }) => what)].map(([what, { length }]) => `${length} ${what}`);
    return `${amount(steps.length, 'step')}: ${groups.join(', ')}`;
  }
  const least = exact ? '' : 'at least ';
  const more = further.map((words) => `, and ${words}`).join('');
  return `${amount(steps.length, 'step')} and ${least}${amount(calls, 'call')}${more}`;
}

const amount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
