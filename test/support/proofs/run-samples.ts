// Runs one of the projects of vitest.config.ts that `npm test` leaves out, and ends with its exit code.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const VITEST = resolve(import.meta.dirname, '../../../node_modules/vitest/vitest.mjs');

export function runSamples(project: 'prove-quick' | 'bench-check'): never {
  const { status } = spawnSync(process.execPath, [VITEST, 'run', '--project', project], { stdio: 'inherit' });
  process.exit(status ?? 1);
}
