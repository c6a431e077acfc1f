// npm run prove: every kind of push meets every fault of the service, on the call that creates and on the reading back;
// npm test has each fault meet two of the kinds. Gives its section of docs/reliability.md.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { giveSection } from '../support/reliability-page.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const VITEST = resolve(ROOT, 'node_modules/vitest/vitest.mjs');
const FILES = ['test/scenario/push-write-faults.test.ts', 'test/scenario/push-read-faults.test.ts'];

const folder = mkdtempSync(join(tmpdir(), 'roadbook-push-faults-'));
const outcomes = join(folder, 'outcomes.json');
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${outcomes}`];
const { status } = spawnSync(process.execPath, [VITEST, 'run', ...reporters, ...FILES], {
  cwd: ROOT,
  env: { ...process.env, EVERY_PUSH_FAULT: '1' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
if (status === 0) {
  const { numTotalTests: cases, numFailedTests: wrong } = JSON.parse(readFileSync(outcomes, 'utf8')) as {
    numTotalTests: number;
    numFailedTests: number;
  };
  giveSection(
    'Every fault on every push',
    `Route plans, points of interest, agents and itineraries are pushed while the service answers the call that creates them, or
the reading back after a lost answer, with each of its faults. The ledger of the sandbox tells what was accepted: each
thing once, or not at all where it was refused, and the outbox says which.

| cases | wrong |
|---|---|
| ${cases} | ${wrong} |

Made by \`node test/prove/push-faults.ts\`. Each fault meets two of the kinds with every \`npm test\`
(${FILES.join(', ')}).`,
    { run: 'every fault on every kind of push', many: `${cases} cases`, lost: `${wrong} wrong` },
  );
}
rmSync(folder, { recursive: true, force: true });
