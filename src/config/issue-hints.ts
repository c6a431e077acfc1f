// What to try where the file and the schema do not agree, for people who edit the file. Values are never named.
import type { z } from 'zod';
import type { Path, SchemaPlace } from '../core/schema-place.ts';
import { suggest } from '../core/text/near-word.ts';
import { allowedWords } from '../core/text/zod-words.ts';

type Issue = z.core.$ZodIssue;

/** `value` is what stands at the issue's place; it chooses the words and is not shown. */
export function hintOf(issue: Issue, value: unknown, place: SchemaPlace): string {
  const own = issue.code === 'custom' ? issue.params?.hint : undefined;
  if (typeof own === 'string') return own;
  const words = allowedWords(issue);
  if (words.length > 0) return suggest(typeof value === 'string' ? value : '', words);
  if (value === undefined) return `add it${place.description === undefined ? '' : `: ${place.description}`}`;
  if (value === null) return 'give a value, or remove the key to take the default';
  if (place.examples.length > 0)
    return `for example ${place.examples.map((each) => `\`${each}\``).join(', ')}`;
  return kindHint(issue, value) ?? place.description ?? 'see the example in config/roadbook.yaml';
}

function kindHint(issue: Issue, value: unknown): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  if (issue.expected === 'object' || issue.expected === 'record')
    return 'write `key: value` lines beneath it';
  if (issue.expected === 'array') return 'write a list: `[one, two]`';
  if (issue.expected === 'string' && typeof value !== 'object') return 'put it in quotes';
  if (issue.expected === 'number' && typeof value === 'string') return 'write a number, without quotes';
  if (issue.expected === 'boolean') return 'write `true` or `false`, without quotes';
  return undefined;
}

/** Options of jobs that are gone. A file that still has one is rejected, as for any unknown key, with the reason. */
interface RetiredOption {
  job: RegExp;
  key: string;
  hint: string;
}

const RETIRED_OPTIONS: readonly RetiredOption[] = [
  {
    job: /^push-/,
    key: 'check_before_send',
    hint: 'it is gone: every item is looked for at the service before it is sent; delete the line',
  },
  {
    job: /^push-points-of-interest$/,
    key: 'match',
    hint: 'it is gone: a point of interest is matched by its id once known, else by its title; delete the line',
  },
];

/** What to do about the key at `path`; undefined where there never was one. */
export function retiredHint([section, job, key, ...deeper]: Path): string | undefined {
  if (section !== 'jobs' || deeper.length > 0) return undefined;
  return RETIRED_OPTIONS.find((option) => option.key === key && option.job.test(String(job)))?.hint;
}
