import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** How long a test waits for a server or a browser. */
const polling = { poll: { timeout: 15_000 } };
const globalSetup = ['test/support/databases/shared-postgres.ts', 'test/support/databases/shared-mariadb.ts'];

// Before the servers of the tests are started: theirs is a temporary folder too.
Object.assign(process.env, temporaryFolder());
// As the command does: a process that the product starts in a test need not compile its modules anew.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache');

export default defineConfig({
  test: {
    projects: [
      // The files of a worker share its modules, so that each is loaded once. A hook belongs to the file that calls for it: one
      // that a helper sets while it is loaded would be missing in the next file.
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false } },
      {
        extends: true,
        // With real servers and browsers a test may meet a machine that stalls: it fails if it fails twice.
        test: {
          name: 'servers',
          include: ['test/{conformance,scenario,browser}/**/*.test.ts'],
          globalSetup,
          isolate: false,
          retry: 1,
          expect: polling,
        },
      },
      // `npm run prove -- --quick`: samples of the long proofs, and the tests that take longer than ten seconds. None is
      // repeated: a plan that is sent twice in one of two runs must fail.
      {
        extends: true,
        test: {
          name: 'prove-quick',
          include: ['test/{prove-quick,long}/**/*.test.ts'],
          globalSetup,
          expect: polling,
        },
      },
      // `npm run bench -- --check`: samples of the benchmarks, which count the CPU time of their own PostgreSQL.
      {
        extends: true,
        test: { name: 'bench-check', include: ['test/bench-check/*.test.ts'], fileParallelism: false },
      },
    ],
    // One worker a core by itself would leave one idle: many tests wait for a process or a timer of the other side.
    maxWorkers: 2,
    // For a machine that is busy with something else: a test that hangs is as well found after three minutes.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
