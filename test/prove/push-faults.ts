// Every kind of push meets every fault of the service, on the call that creates and on the reading back; npm test has
// each fault meet two of the kinds.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const VITEST = resolve(ROOT, 'node_modules/vitest/vitest.mjs');
const FILES = ['test/scenario/push-write-faults.test.ts', 'test/scenario/push-read-faults.test.ts'];

const { status } = spawnSync(process.execPath, [VITEST, 'run', ...FILES], {
  cwd: ROOT,
  env: { ...process.env, EVERY_PUSH_FAULT: '1' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
