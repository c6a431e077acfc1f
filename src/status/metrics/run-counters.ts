// Counters over the runs that ended since this process started to count. Runs are read from the warehouse, so runs of
// other processes count too. Each run counts once.
import { Counter, type Registry } from 'prom-client';
import { isoInstant } from '../../core/time/clock.ts';
import { type RunRow, runsEndedAfter } from '../../warehouse/control/runs.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';

/** A run may be stored this long after its `finished_at`. */
const LATE_MS = 3_600_000;

/** Each counter of a job: its name without the prefix and `_total`, its help text, and what a run adds to it. */
export const TOTALS: readonly { name: string; help: string; of: (run: RunRow) => number }[] = [
  { name: 'requests', help: 'HTTP requests sent to the service by runs.', of: (run) => run.requests },
  { name: 'retries', help: 'HTTP requests that were retried.', of: (run) => run.retries },
  { name: 'records', help: 'Records received.', of: (run) => run.records },
  { name: 'rows_written', help: 'Rows inserted or updated.', of: (run) => run.inserted + run.updated },
  { name: 'quarantined_records', help: 'Invalid records put into quarantine.', of: (run) => run.quarantined },
  { name: 'things_sent', help: 'Items sent to the service.', of: (run) => run.sent },
];

const STATUSES = ['ok', 'partial', 'failed', 'abandoned'];

export interface CounterDependencies extends Pick<StatusServerDependencies, 'engine' | 'clock' | 'jobs'> {
  /** When this process started to count runs. */
  beganAt: string;
}

/** Registers the counters and returns the function that brings them up to date. */
export function runCounters(registry: Registry, dependencies: CounterDependencies): () => Promise<void> {
  const { jobs } = dependencies;
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `roadbook_${name}_total`, help, labelNames, registers: [registry] });
  const runs = counter('runs', 'Finished runs by status.', ['job', 'status']);
  const totals = TOTALS.map(({ name, help, of }) => ({ counter: counter(name, help, ['job']), of }));
  // Counters start at 0: rate() over a counter that appears with its first value misses that value.
  for (const { name: job } of jobs) {
    for (const status of STATUSES) runs.inc({ job, status }, 0);
    for (const total of totals) total.counter.inc({ job }, 0);
  }
  const ended = newlyEnded(dependencies);
  return async () => {
    for (const run of await ended()) {
      if (!jobs.some(({ name }) => name === run.job)) continue;
      runs.inc({ job: run.job, status: run.status });
      for (const total of totals) total.counter.inc({ job: run.job }, total.of(run));
    }
  };
}

/** Returns the runs that ended since the last call. */
function newlyEnded({ engine, clock, beganAt }: CounterDependencies): () => Promise<RunRow[]> {
  let counted = new Set<string>();
  return async () => {
    const horizon = isoInstant(clock.now() - LATE_MS);
    const ended = await runsEndedAfter(engine, horizon > beganAt ? horizon : beganAt);
    const fresh = ended.filter(({ run_id }) => !counted.has(run_id));
    counted = new Set(ended.map(({ run_id }) => run_id));
    return fresh;
  };
}
