import { statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

/** Tests commit often and wait for the disk each time; where there is memory to spare, their files live there. */
function temporaryFolder(): Record<string, string> {
  const memory = '/dev/shm';
  const spare = 4 * 1_024 ** 3;
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > spare ? { TMPDIR: memory } : {};
  } catch {
    return {};
  }
}

const UNIT = 'test/unit/**/*.test.ts';
const WITH_SERVERS = 'test/{conformance,scenario,browser}/**/*.test.ts';
/** By their names: those that measure by the clock come last, when nothing else runs. */
const ALONE = 'test/**/*.alone.test.ts';
const globalSetup = 'test/support/shared-postgres.ts';

// Before the servers of the tests are started: theirs is a temporary folder too.
Object.assign(process.env, temporaryFolder());

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'unit', include: [UNIT], exclude: [ALONE] } },
      { extends: true, test: { name: 'together', include: [WITH_SERVERS], exclude: [ALONE], globalSetup } },
      { extends: true, test: { name: 'alone', include: [ALONE], globalSetup, sequence: { groupOrder: 1 } } },
    ],
    // One worker a core by itself would leave one idle: many tests wait for a process or a timer of the other side.
    maxWorkers: 2,
    // For a machine that is busy with something else: a test that hangs is as well found after three minutes.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
