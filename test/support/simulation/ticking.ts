// Days of schedule on a real warehouse: every run is only a row, and the daemon is started anew in between, so that
// nothing but the warehouse knows which ticks have been run.

import { zeroCounts } from '../../../src/core/glossary.ts';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { isoInstant } from '../../../src/core/time/clock.ts';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { createScheduler, type ScheduledJob } from '../../../src/schedule/scheduler.ts';
import { closeRun, openRun, readTicks } from '../../../src/warehouse/control/runs.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';

const STEP_MS = 15 * 60_000;

export interface Ticking {
  jobs: readonly ScheduledJob[];
  from: string;
  to: string;
  /** Instants at which the daemon is stopped and another one started. */
  restartsAt: readonly string[];
}

export async function tick(engine: Engine, { jobs, from, to, restartsAt }: Ticking): Promise<void> {
  const clock = createManualClock(Date.parse(from));
  const restarts = new Set(restartsAt.map((at) => Date.parse(at)));
  let busy = 0;
  let runs = 0;
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    busy++;
    return work().finally(() => busy--);
  };
  const start = () => {
    const made = createScheduler(jobs, {
      clock,
      log: createLog({ level: 'silent', redactor: createRedactor() }),
      readTicks: (job) => counted(() => readTicks(engine, job)),
      run: (job, { cause, tickAt = clock.now() }) =>
        counted(async () => {
          const [runId, startedAt] = [`run ${++runs} of ${job}`, isoInstant(clock.now())];
          await openRun(engine, { runId, job, cause, tickAt: isoInstant(tickAt), startedAt });
          const times = { started_at: startedAt, finished_at: startedAt };
          await closeRun(engine, { job, run_id: runId, status: 'ok', error: null, ...times, ...zeroCounts() });
        }),
    });
    made.start();
    return made;
  };
  let scheduler = start();
  while (clock.now() < Date.parse(to)) {
    await clock.advance(STEP_MS);
    // The clock stands still while the warehouse is asked.
    for (let quiet = 0; quiet < 2; quiet = busy === 0 ? quiet + 1 : 0) await nextTurn();
    if (!restarts.has(clock.now())) continue;
    await scheduler.stop(0);
    scheduler = start();
  }
  await scheduler.stop(0);
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
