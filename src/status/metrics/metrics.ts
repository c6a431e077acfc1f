// The metrics for Prometheus, read when they are asked for. Labels are jobs, tables and states, names that are declared,
// and the daemons that there are; never an identifier of a record, so that their number is bounded.
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { readLeases } from '../../warehouse/control/leases.ts';
import type { StatusFacts } from '../health/status-document.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { createFlight } from '../server/single-flight.ts';
import { GAUGES, type GaugeFacts } from './gauges.ts';
import { runCounters } from './run-counters.ts';

export interface Metrics {
  contentType: string;
  text(): Promise<string>;
}

interface MetricsDependencies
  extends Pick<StatusServerDependencies, 'engine' | 'clock' | 'version' | 'jobs'> {
  /** When this process began to count. */
  beganAt: string;
}

/** Gauges of the library whose names end as only a counter's may. */
const MISNAMED = ['active_resources_total', 'active_handles_total', 'active_requests_total'];

export function createMetrics(dependencies: MetricsDependencies, facts: () => Promise<StatusFacts>): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'roadbook_' });
  for (const name of MISNAMED) registry.removeSingleMetric(`roadbook_nodejs_${name}`);
  const tell = gauges(registry);
  const count = runCounters(registry, dependencies);
  const { version, clock, engine } = dependencies;
  return {
    contentType: registry.contentType,
    // Two who ask at once share one answer, else one would empty the gauges that the other fills.
    text: createFlight(async () => {
      const leasesHeld = (await readLeases(engine)).filter(({ holder }) => holder !== null).length;
      tell({ ...(await facts()), version, leasesHeld, nowMs: clock.now() });
      await count();
      return registry.metrics();
    }),
  };
}

function gauges(registry: Registry): (facts: GaugeFacts) => void {
  const made = GAUGES.map((declared) => {
    const { name, help, labels = [] } = declared;
    return {
      ...declared,
      labels,
      gauge: new Gauge({ name: `roadbook_${name}`, help, labelNames: labels, registers: [registry] }),
    };
  });
  return (facts) => {
    for (const { gauge, labels, values } of made) {
      // What is not told any more, such as a job without a next tick, must not keep its last value.
      gauge.reset();
      for (const [names, value] of values(facts)) {
        const labelled = Object.fromEntries(labels.map((label, index) => [label, names[index] ?? '']));
        if (value !== null) gauge.set(labelled, value);
        else if (labels.length === 0) gauge.remove();
      }
    }
  };
}
