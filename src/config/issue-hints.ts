// Hints for schema issues, for people who edit the file. A hint never shows a value of the file.
import type { z } from 'zod';
import type { Path, SchemaPlace } from '../core/schema-place.ts';
import { suggest } from '../core/text/near-word.ts';
import { allowedWords } from '../core/text/zod-words.ts';

type Issue = z.core.$ZodIssue;

/** `value` is the value at the issue; it selects the hint and is not shown. */
export function hintOf(issue: Issue, value: unknown, place: SchemaPlace): string {
  const own = issue.code === 'custom' ? issue.params?.hint : undefined;
  if (typeof own === 'string') return own;
  const words = allowedWords(issue);
  if (words.length > 0) return suggest(typeof value === 'string' ? value : '', words);
  if (value === undefined) return `add it${place.description === undefined ? '' : `: ${place.description}`}`;
  if (value === null) return 'set a value, or remove the key to use the default';
  if (place.examples.length > 0) return `for example ${place.examples.map((each) => `\`${each}\``).join(', ')}`;
  return kindHint(issue, value) ?? place.description ?? 'see the example in config/roadbook.yaml';
}

function kindHint(issue: Issue, value: unknown): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  if (issue.expected === 'object' || issue.expected === 'record') return 'write `key: value` lines below it';
  if (issue.expected === 'array') return 'write a list: `[one, two]`';
  if (issue.expected === 'string' && typeof value !== 'object') return 'put it in quotes';
  if (issue.expected === 'number' && typeof value === 'string') return 'write a number, without quotes';
  if (issue.expected === 'boolean') return 'write `true` or `false`, without quotes';
  return undefined;
}

/** A removed job option. A file that still has one is rejected, as for any unknown key, with the reason. */
interface RetiredOption {
  job: RegExp;
  key: string;
  hint: string;
}

const RETIRED_OPTIONS: readonly RetiredOption[] = [
  {
    job: /^push-/,
    key: 'check_before_send',
    hint: 'the option was removed: every item is looked up at the service before it is sent; delete the line',
  },
  {
    job: /^push-points-of-interest$/,
    key: 'match',
    hint: 'the option was removed: a point of interest is matched by its id if known, else by its title; delete the line',
  },
];

/** The hint for a removed option at `path`; undefined if there never was such an option. */
export function retiredHint([section, job, key, ...deeper]: Path): string | undefined {
  if (section !== 'jobs' || deeper.length > 0) return undefined;
  return RETIRED_OPTIONS.find((option) => option.key === key && option.job.test(String(job)))?.hint;
}
