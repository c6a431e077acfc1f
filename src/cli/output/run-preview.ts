// What `run --dry-run` prints: the steps, how many calls they take, and in words which calls cannot be counted before
// they are made.
import type { Preview } from '../../sync/job.ts';
import type { ChainPreview, JobPreview } from '../../sync/job-chain.ts';
import { print, say } from '../command.ts';

export function showPreview({ first, ...own }: ChainPreview, json: boolean): void {
  // What it needs has yet to be brought, so its own steps are not those of the run.
  const document = { ...counted(own), first: first.map(counted) };
  if (first.length > 0) document.exact = false;
  if (json) {
    print(JSON.stringify(document, null, 2));
    return;
  }
  for (const step of [...first, own].flatMap(({ steps }) => steps)) print(`${step.what}  ${detailOf(step)}`);
  for (const each of document.first)
    say(`${each.job} would run first, because it has never succeeded: ${inWords(each)}.`);
  say(
    `${own.job} would ${first.length > 0 ? laterWords(document) : `take ${inWords(document)}`}; nothing was done.`,
  );
}

/** A slice is told by its name; its work, which may name hundreds of vehicles, is in the JSON. */
const detailOf = ({ calls, detail }: Preview): string =>
  calls === undefined ? JSON.stringify(detail) : amount(calls, 'call');

function laterWords({ first, ...own }: ReturnType<typeof counted> & { first: JobPreview[] }): string {
  const names = first.map(({ job }) => job).join(' and ');
  const known = own.steps.length > 0 ? `; known so far: ${inWords(own)}` : '';
  return `follow with steps that depend on what ${names} will bring and cannot be told yet${known}`;
}

const counted = ({ job, steps }: JobPreview) => ({
  job,
  calls: steps.reduce((sum, { calls }) => sum + (calls ?? 0), 0),
  /** Retries aside, the run makes these calls and no others. */
  exact: steps.every(isExact),
  /** Which calls come on top. */
  further: [...new Set(steps.flatMap(({ further }) => further ?? []))],
  steps,
});

const isExact = ({ calls, further }: Preview): boolean => calls !== undefined && further === undefined;

function inWords({ calls, exact, further, steps }: ReturnType<typeof counted>): string {
  const least = exact ? '' : 'at least ';
  const more = further.map((words) => `, and ${words}`).join('');
  return `${amount(steps.length, 'step')} and ${least}${amount(calls, 'call')}${more}`;
}

const amount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
