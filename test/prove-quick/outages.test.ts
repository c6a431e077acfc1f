// Outages at the tick of every job, on a simulated clock: real requests, a real warehouse, the scheduler of the daemon.
// No job waits longer than its backoff for data that it could have had.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../src/core/time/manual-clock.ts';
import { seededRandom } from '../../src/sandbox/made-up/seeded-random.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { sqlite } from '../../src/warehouse/engines/sqlite/engine.ts';
import { agent, CPFS, itinerary, plan, pointOfInterest } from '../support/push/push-samples.ts';
import { simulateIo } from '../support/simulation/simulated-io.ts';
import { beginDaemon, SIMULATED_JOBS } from '../support/simulation/simulated-life.ts';
import { CALM } from '../support/simulation/simulated-network.ts';
import { rowsOf } from '../support/warehouse/engines.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** A tick of every job: midnight and 03:00 in São Paulo. */
const TICKS = ['2026-03-05T03:00:00.000Z', '2026-03-05T06:00:00.000Z'].map((at) => Date.parse(at));
/** Delays after the first, second, third and each later try. */
const BACKOFF = [MINUTE, 5 * MINUTE, 15 * MINUTE];
/** A run may last this long, and start this long after it is due. */
const SLACK = 30 * SECOND;

interface Run {
  job: string;
  status: string;
  attempt: number;
  started_at: string;
  finished_at: string;
}

/** All but verify-warehouse, which is not tried again: its next sample is as good. */
const JOBS = [
  ...SIMULATED_JOBS,
  { name: 'push-agents', cron: '0 */3 * * *' },
  { name: 'push-itineraries', cron: '0 */3 * * *' },
];

/** What the ERP has for the service at a tick. */
function dropItems(dir: string, name: string, cpf: string): void {
  const period = { date_time_start: '2026-03-06T08:00:00-03:00', date_time_end: '2026-03-06T18:00:00-03:00' };
  for (const [kind, item] of Object.entries({
    route_plans: plan(name, period),
    points_of_interest: pointOfInterest(name),
    agents: agent(cpf),
    itineraries: itinerary(name),
  })) {
    mkdirSync(join(dir, kind), { recursive: true });
    writeFileSync(join(dir, kind, `${name}.json`), JSON.stringify(item));
  }
}

it.each([
  ['10 s', 10 * SECOND, MINUTE],
  ['2 min', 2 * MINUTE, 5 * MINUTE],
  ['16 min', 16 * MINUTE, 15 * MINUTE],
  ['1 h', HOUR, 15 * MINUTE],
])('after an outage of %s at its tick, every job soon has its data', async (_name, lengthMs, mostMs) => {
  const dir = mkdtempSync(join(tmpdir(), 'roadbook-outages-'));
  const clock = createManualClock((TICKS[0] ?? 0) - 3 * HOUR);
  const sandbox = await startSandbox({ clock, seed: 5, vehicles: 2, churn: false });
  const random = (name: string) => seededRandom('outages', name, 5);
  const io = simulateIo(clock, random('turns'));
  let isDown = false;
  const daemon = await beginDaemon({
    dir,
    io,
    sandbox,
    network: random('network'),
    jitter: random('jitter'),
    note: () => undefined,
    simulated: JOBS,
    weather: () => ({ ...CALM, isDown }),
  });
  const engine = await sqlite.open({ file: join(dir, 'warehouse.db') });
  onTestFinished(async () => {
    await engine.close();
    await daemon.bury();
    await sandbox.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const pass = (untilMs: number) => io.pass(untilMs - clock.now(), () => 'lives');
  const outages: { fromMs: number; untilMs: number }[] = [];
  for (const [index, tickMs] of TICKS.entries()) {
    await pass(tickMs - SECOND);
    dropItems(dir, `at ${tickMs}`, CPFS[index] ?? '');
    // Jobs start up to ten seconds after their tick: the outage lasts beyond the last start.
    const outage = { fromMs: clock.now(), untilMs: tickMs + 10 * SECOND + lengthMs };
    isDown = true;
    await pass(outage.untilMs);
    isDown = false;
    outages.push(outage);
    await pass(outage.untilMs + HOUR);
  }

  const runs = await engine.read((sql) => rowsOf<Run>(sql, 'select * from sync_run order by started_at'));
  const failedJobs = new Set<string>();
  for (const { fromMs, untilMs } of outages) {
    for (const { name } of JOBS) {
      const isNear = (at: number): boolean => at >= fromMs && at < untilMs + HOUR;
      const later = runs.filter(({ job, started_at }) => job === name && isNear(Date.parse(started_at)));
      const through = later.findIndex(({ status }) => status === 'ok');
      const [first, ...others] = through === -1 ? later : later.slice(0, through + 1);
      // This tick is none of the job, or its run needs no service.
      if (first === undefined || first.status === 'ok') continue;
      failedJobs.add(name);
      let last = first;
      for (const next of others) {
        const waitedMs = Date.parse(next.started_at) - Date.parse(last.finished_at);
        expect(waitedMs, `${name}, try ${next.attempt}`).toBeLessThanOrEqual(
          (BACKOFF[last.attempt - 1] ?? 15 * MINUTE) + SLACK,
        );
        last = next;
      }
      expect(last.status, name).toBe('ok');
      expect(Date.parse(last.started_at) - untilMs, name).toBeLessThanOrEqual(mostMs + SLACK);
    }
  }
  const callers = JOBS.map(({ name }) => name).filter((name) => /^pu(?:ll|sh)-/.test(name));
  expect([...failedJobs].sort()).toEqual(callers.sort());
});
