// The watch on real files, on a clock that the test moves: a half-written file is never taken for a complete one.
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { watchConfig } from '../../../src/config/watch.ts';
import type { Loop } from '../../../src/core/time/loop.ts';
import { createManualClock, type ManualClock } from '../../../src/core/time/manual-clock.ts';

const MOST_STEPS = 500;
const STEP_MS = 100;

let dir: string;
let file: string;
let clock: ManualClock;
let watch: Loop;
/** The content of the file at each reported change. */
let reported: string[];
/** What the report of a change returns. */
let isApplied: boolean;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'roadbook-watch-'));
  file = join(dir, 'roadbook.yaml');
  clock = createManualClock(0);
  reported = [];
  isApplied = true;
});

afterEach(async () => {
  await watch.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Starts the watch, and waits for its first report, which includes changes from before the watch began. */
async function begin(content: string): Promise<void> {
  writeFileSync(file, content);
  await follow();
}

async function follow(): Promise<void> {
  const read = (): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '(gone)';
    }
  };
  watch = watchConfig({
    file,
    beside: [join(dir, '.env')],
    clock,
    changed: async () => {
      reported.push(read());
      return isApplied;
    },
  });
  watch.start();
  await until(() => reported.length === 1);
  reported = [];
}

/** Moves the clock in small steps, each once the watch waits for it. */
async function pass(steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    while (clock.sleepers() === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(STEP_MS);
  }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let step = 0; !isSo(); step++) {
    if (step === MOST_STEPS) throw new Error('not seen');
    await pass(1);
  }
}

it('reports an edit once, within two seconds of its clock', async () => {
  await begin('a: 1\n');
  const savedAt = clock.now();
  writeFileSync(file, 'a: 2\n');
  await until(() => reported.length === 1);
  expect(clock.now() - savedAt).toBeLessThanOrEqual(2_000);
  await pass(40);
  expect(reported).toEqual(['a: 2\n']);
});

it('reports nothing where only the modification time of the file changed', async () => {
  await begin('a: 1\n');
  writeFileSync(file, 'a: 1\n');
  await pass(40);
  expect(reported).toEqual([]);
});

it('detects a file that is saved by rename, every time', async () => {
  await begin('a: 1\n');
  for (const content of ['a: 2\n', 'a: 3\n', 'a: 4\n']) {
    writeFileSync(join(dir, '.roadbook.yaml.swp'), content);
    renameSync(join(dir, '.roadbook.yaml.swp'), file);
    await until(() => reported.at(-1) === content);
  }
  expect(reported).toEqual(['a: 2\n', 'a: 3\n', 'a: 4\n']);
});

it('reports an edit again until it is applied', async () => {
  await begin('a: 1\n');
  isApplied = false;
  writeFileSync(file, 'a: 2\n');
  await until(() => reported.length === 3);
  // Also if the old file is put back: the new one may be applied in part.
  writeFileSync(file, 'a: 1\n');
  await until(() => reported.at(-1) === 'a: 1\n');
  isApplied = true;
  const { length } = reported;
  await until(() => reported.length > length);
  await pass(40);
  expect(reported.length).toBe(length + 1);
});

it('waits until a file that is written in chunks stops changing', async () => {
  await begin('a: 1\n');
  writeFileSync(file, '');
  const lines = Array.from({ length: 20 }, (_, index) => `key${index}: ${index}\n`);
  for (const line of lines) {
    await pass(2);
    appendFileSync(file, line);
  }
  expect(reported).toEqual([]);
  await until(() => reported.length > 0);
  expect(reported).toEqual([lines.join('')]);
});

it('ignores a file that is gone for a moment, and reports one that stays away', async () => {
  await begin('a: 1\n');
  rmSync(file);
  await pass(10);
  writeFileSync(file, 'a: 2\n');
  await until(() => reported.length === 1);
  expect(reported).toEqual(['a: 2\n']);
  rmSync(file);
  await until(() => reported.length === 2);
  expect(reported[1]).toBe('(gone)');
});

it('follows links as an orchestrator mounts them: the folder behind them is replaced', async () => {
  const version = (name: string, content: string): void => {
    mkdirSync(join(dir, name));
    writeFileSync(join(dir, name, 'roadbook.yaml'), content);
    symlinkSync(name, join(dir, '..data_tmp'));
    renameSync(join(dir, '..data_tmp'), join(dir, '..data'));
  };
  version('..2026_01', 'a: 1\n');
  symlinkSync(join('..data', 'roadbook.yaml'), file);
  await follow();
  version('..2026_02', 'a: 2\n');
  await until(() => reported.length === 1);
  expect(reported).toEqual(['a: 2\n']);
});

it('watches .env, and the secret files that the file names', async () => {
  const secret = join(dir, 'secret');
  await begin(`password: \${file:${secret}}\n`);
  writeFileSync(join(dir, '.env'), 'X=1\n');
  await until(() => reported.length === 1);
  writeFileSync(secret, 'one');
  await until(() => reported.length === 2);
  writeFileSync(secret, 'two');
  await until(() => reported.length === 3);
});

it('can be stopped before it was started, and twice', async () => {
  await begin('');
  await watch.stop();
  await watch.stop();
  writeFileSync(file, 'a: 2\n');
  await clock.advance(5_000);
  expect(reported).toEqual([]);
});
