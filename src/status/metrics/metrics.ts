// The metrics for Prometheus, computed for each scrape. Labels are declared names (jobs, tables, states) and live
// daemons, never the identifier of a record, so the number of series is bounded.
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { RunCounts } from '../../core/glossary.ts';
import { readLeases } from '../../warehouse/control/leases.ts';
import { freeDisk } from '../health/readiness.ts';
import { driftLimit, type StatusFacts } from '../health/status-document.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { singleFlight } from '../server/single-flight.ts';
import { GAUGES, type GaugeFacts } from './gauges.ts';

type MetricsDependencies = Pick<
  StatusServerDependencies,
  'version' | 'engine' | 'clock' | 'running' | 'jobs' | 'totals'
>;

/** Gauges of the library with the suffix `_total`, which is reserved for counters. */
const MISNAMED = ['active_resources_total', 'active_handles_total', 'active_requests_total'];

export function createMetrics(dependencies: MetricsDependencies, facts: () => Promise<StatusFacts>) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'roadbook_' });
  for (const name of MISNAMED) registry.removeSingleMetric(`roadbook_nodejs_${name}`);
  const updateGauges = registerGauges(registry);
  const updateCounters = runCounters(registry, dependencies);
  const { version, clock, engine, running } = dependencies;
  return {
    contentType: registry.contentType,
    // Concurrent scrapes share one result: otherwise one would reset the gauges that the other fills.
    text: singleFlight(async () => {
      const leasesHeld = (await readLeases(engine)).filter(({ holder }) => holder !== null).length;
      const diskFreeBytes = await freeDisk(dependencies).then(
        ({ bytes }) => bytes,
        () => null,
      );
      const limit = driftLimit(running().config);
      const shared = await facts();
      updateGauges({ ...shared, version, leasesHeld, diskFreeBytes, driftLimit: limit, nowMs: clock.now() });
      updateCounters();
      return registry.metrics();
    }),
  };
}

function registerGauges(registry: Registry): (facts: GaugeFacts) => void {
  const registered = GAUGES.map((declared) => {
    const { name, help, labels = [] } = declared;
    return {
      ...declared,
      labels,
      gauge: new Gauge({ name: `roadbook_${name}`, help, labelNames: labels, registers: [registry] }),
    };
  });
  return (facts) => {
    for (const { gauge, labels, values } of registered) {
      // A value that has become null, such as the next tick of a paused job, must not stay in the gauge.
      gauge.reset();
      for (const [names, value] of values(facts)) {
        const labelled = Object.fromEntries(labels.map((label, index) => [label, names[index] ?? '']));
        if (value !== null) gauge.set(labelled, value);
        else if (labels.length === 0) gauge.remove();
      }
    }
  };
}

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

/**
 * Counters over the runs of this process since it began. They grow while a run is under way, and each run is counted by the
 * one process that makes it, so the sum over all daemons is right. Returns the function that brings them up to date.
 */
function runCounters(registry: Registry, { jobs, totals }: MetricsDependencies): () => void {
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
