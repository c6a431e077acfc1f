// The commit that a proof or benchmark is of, for the pages that they write.
import { execFileSync } from 'node:child_process';

/** Ends with `-dirty` if files differ from the commit. */
export const measuredCommit = (): string =>
  execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  }).trim();
