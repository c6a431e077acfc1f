// The metrics for Prometheus, computed for each scrape. Labels are declared names (jobs, tables, states) and live
// daemons, never the identifier of a record, so the number of series is bounded.
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { readLeases } from '../../warehouse/control/leases.ts';
import { freeDisk } from '../health/readiness.ts';
import type { StatusFacts } from '../health/status-document.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { singleFlight } from '../server/single-flight.ts';
import { GAUGES, type GaugeFacts } from './gauges.ts';
import { type CounterDependencies, runCounters } from './run-counters.ts';

type MetricsDependencies = CounterDependencies &
  Pick<StatusServerDependencies, 'version' | 'engine' | 'clock' | 'running'>;

/** Gauges of the library with the suffix `_total`, which is reserved for counters. */
const MISNAMED = ['active_resources_total', 'active_handles_total', 'active_requests_total'];

export function createMetrics(dependencies: MetricsDependencies, facts: () => Promise<StatusFacts>) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'roadbook_' });
  for (const name of MISNAMED) registry.removeSingleMetric(`roadbook_nodejs_${name}`);
  const updateGauges = registerGauges(registry);
  const updateCounters = runCounters(registry, dependencies);
  const { version, clock, engine } = dependencies;
  return {
    contentType: registry.contentType,
    // Concurrent scrapes share one result: otherwise one would reset the gauges that the other fills.
    text: singleFlight(async () => {
      const leasesHeld = (await readLeases(engine)).filter(({ holder }) => holder !== null).length;
      const diskFreeBytes = await freeDisk(dependencies).then(
        ({ bytes }) => bytes,
        () => null,
      );
      updateGauges({ ...(await facts()), version, leasesHeld, diskFreeBytes, nowMs: clock.now() });
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
