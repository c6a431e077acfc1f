// Counters over the runs of this process since it began. They grow while a run is under way, and each run is counted by the
// one process that makes it, so the sum over all daemons is right.
import { Counter, type Registry } from 'prom-client';
import type { RunCounts } from '../../core/glossary.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';

/** Each counter of a job: its name without the prefix and `_total`, its help text, and its value. */
export const TOTALS: readonly { name: string; help: string; of: (counts: RunCounts) => number }[] = [
  { name: 'requests', help: 'HTTP requests sent to the service by runs.', of: ({ requests }) => requests },
  { name: 'retries', help: 'HTTP requests that were retried.', of: ({ retries }) => retries },
  { name: 'records', help: 'Records received.', of: ({ records }) => records },
  { name: 'rows_written', help: 'Rows inserted or updated.', of: ({ inserted, updated }) => inserted + updated },
  { name: 'quarantined_records', help: 'Invalid records put into quarantine.', of: ({ quarantined }) => quarantined },
  { name: 'items_sent', help: 'Items sent to the service.', of: ({ sent }) => sent },
  { name: 'items_confirmed', help: 'Items confirmed by the service.', of: ({ confirmed }) => confirmed },
  { name: 'items_rejected', help: 'Items rejected.', of: ({ rejected }) => rejected },
];

export type CounterDependencies = Pick<StatusServerDependencies, 'jobs' | 'totals'>;

/** Registers the counters and returns the function that brings them up to date. */
export function runCounters(registry: Registry, { jobs, totals }: CounterDependencies): () => void {
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `roadbook_${name}_total`, help, labelNames, registers: [registry] });
  const runs = counter('runs', 'Finished runs by status.', ['job_name', 'status']);
  const counters = TOTALS.map(({ name, help, of }) => ({ counter: counter(name, help, ['job_name']), of }));
  return () => {
    for (const each of [runs, ...counters.map(({ counter }) => counter)]) each.reset();
    // Every series is there from the start, with 0: rate() over one that appears with its first value misses that value.
    for (const { name: job_name } of jobs) {
      const { ended, counts } = totals.of(job_name);
      for (const [status, count] of Object.entries(ended)) runs.inc({ job_name, status }, count);
      for (const { counter, of } of counters) counter.inc({ job_name }, of(counts));
    }
  };
}
