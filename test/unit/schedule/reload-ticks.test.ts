// Edits, valid and invalid, while the scheduler runs on a clock that the test moves: no tick is lost or doubled.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConfigError } from '../../../src/config/faults.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { Retriable } from '../../../src/core/errors.ts';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { createManualClock, type ManualClock } from '../../../src/core/time/manual-clock.ts';
import { createReload, type Reload } from '../../../src/schedule/reload.ts';
import { createScheduler, type Scheduler } from '../../../src/schedule/scheduler.ts';
import { NEVER_FAILED } from '../../support/simulation/simulated-daemon.ts';
import { declarations } from '../config/config-declarations.ts';
import { wrongConfigs, wrongEnvironment } from '../config/wrong-configs.ts';

const START = Date.parse('2026-03-02T08:00:30.000Z');
const MINUTE = 60_000;
/** Later than any job starts after its tick. */
const AFTER_THE_TICK = 30_000;

let dir: string;
let clock: ManualClock;
let scheduler: Scheduler;
let reload: Reload;
let ticks: number[];
let rejections: (ConfigError | null)[];

const good = (schedule: string, rest = ''): string =>
  `timezone: UTC\njobs:\n  pull-vehicles: { schedule: "${schedule}" }\n  pull-events: { enabled: false }\n${rest}`;

const save = (content: string): void => writeFileSync(join(dir, 'roadbook.yaml'), content);

async function scheduled() {
  const { config } = await loadConfig(join(dir, 'roadbook.yaml'), declarations, wrongEnvironment);
  return Object.entries(config.jobs)
    .filter(([, job]) => job.enabled)
    .map(([name, job]) => ({ name, cron: job.schedule, timezone: job.timezone }));
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'roadbook-edits-'));
  clock = createManualClock(START);
  ticks = [];
  rejections = [];
  let lastMs = START;
  const log = createLog({ level: 'silent', redactor: createRedactor() });
  save(good('* * * * *'));
  scheduler = createScheduler(await scheduled(), {
    clock,
    log,
    readTicks: async () => ({ ...NEVER_FAILED, paused: false, lastRunId: null, lastMs }),
    async run(_job, { tickAt = 0 }) {
      ticks.push(tickAt);
      lastMs = Math.max(clock.now(), tickAt);
    },
  });
  reload = createReload({
    log,
    async apply() {
      scheduler.update(await scheduled());
      return ['something'];
    },
    storeResult: async (rejection) => void rejections.push(rejection),
  });
  scheduler.start();
});

afterEach(async () => {
  await scheduler.stop(0);
  rmSync(dir, { recursive: true, force: true });
});

const minutesFrom = (first: string, count: number): number[] =>
  Array.from({ length: count }, (_, index) => Date.parse(first) + index * MINUTE);

it('the daemon misses no tick over more than 200 invalid edits, and rejects each at its place', async () => {
  const all = Object.values(wrongConfigs).flat();
  expect(all.length).toBeGreaterThan(200);
  for (const [text, , at] of all) {
    save(text);
    await reload('edit');
    const rejection = rejections.at(-1);
    expect(rejection?.code, text.slice(0, 80)).toBe('config_invalid');
    expect(rejection?.message.split('\n')[0]).toMatch(/roadbook\.yaml:\d+:\d+ /);
    if (at !== '') expect(rejection?.message).toContain(`roadbook.yaml:${at} `);
    await clock.advance(MINUTE);
  }
  expect(ticks).toEqual(minutesFrom('2026-03-02T08:01:00.000Z', all.length));
  save(good('* * * * *', 'status: { port: 0 }\n'));
  await reload('edit');
  expect(rejections.at(-1)).toBeNull();
});

it('an edit that the warehouse cannot take now is not rejected, and applied once it can', async () => {
  let isAway = true;
  const rejected: unknown[] = [];
  const attempt = createReload({
    log: createLog({ level: 'silent', redactor: createRedactor() }),
    async apply() {
      if (isAway) throw new Retriable('no connection', { code: 'warehouse_unreachable' });
      return [];
    },
    storeResult: async (rejection) => void rejected.push(rejection),
  });
  expect([await attempt('edit'), rejected]).toEqual([false, []]);
  isAway = false;
  expect([await attempt('edit'), rejected]).toEqual([true, [null]]);
});

it('the daemon loses and doubles no tick over valid edits at every second of a minute', async () => {
  for (let second = 0; second < 60; second++) {
    // The same minutes by another expression: to the scheduler it is another schedule.
    save(good(second % 2 === 0 ? '0-59 * * * *' : '* * * * *'));
    await reload('edit');
    await clock.advance(MINUTE + 1_000);
  }
  await clock.advance(AFTER_THE_TICK);
  const expected = minutesFrom('2026-03-02T08:01:00.000Z', 61);
  expect(ticks).toEqual(expected);
});

it('the daemon uses another schedule from the edit on, and still runs the ticks of the old one that were due by then', async () => {
  await clock.advance(5 * MINUTE);
  save(good('30 8 * * *'));
  await reload('edit');
  await clock.advance(60 * MINUTE);
  expect(ticks).toEqual([...minutesFrom('2026-03-02T08:01:00.000Z', 5), Date.parse('2026-03-02T08:30:00.000Z')]);
});
