// Options of jobs that are gone. A file that still has one is refused, as for any unknown key, but is told why.
import type { Path } from '../core/schema-place.ts';

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
