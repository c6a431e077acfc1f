// Runs test files for a proof and counts their cases: the sample of the tests, and with `env` the full set.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');
const VITEST = resolve(ROOT, 'node_modules/vitest/vitest.mjs');

export interface TestCounts {
  cases: number;
  wrong: number;
}

/** `named` leaves out the tests whose names do not hold it; `root` is another copy of the project. Throws where nothing was run, or not all of it. */
export function runTestFiles(
  files: readonly string[],
  { named, env = {}, root = ROOT }: { named?: string; env?: Record<string, string>; root?: string } = {},
): TestCounts {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-test-files-'));
  const outcomes = join(folder, 'outcomes.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${outcomes}`];
  const filter = named === undefined ? [] : ['--testNamePattern', named];
  try {
    const { status } = spawnSync(process.execPath, [VITEST, 'run', ...reporters, ...filter, ...files], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: 'inherit',
    });
    const { numPassedTests: passed, numFailedTests: wrong } = JSON.parse(readFileSync(outcomes, 'utf8')) as {
      numPassedTests: number;
      numFailedTests: number;
    };
    if (passed + wrong === 0 || (status !== 0 && wrong === 0)) throw new Error(`${files.join(', ')} could not be run`);
    return { cases: passed + wrong, wrong };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
