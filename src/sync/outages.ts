// Outages as the log shows them: one line when a run first meets an outage, one when a run gets through again. The runs
// in between fail for the same reason and are logged at debug level only.
import { isPassing, type RoadbookError } from '../core/errors.ts';
import { INTERRUPTED_CODES } from '../warehouse/control/runs.ts';

const SERVICE_CODES: ReadonlySet<string> = new Set([
  'service_unreachable',
  'service_failed',
  'connection_lost',
  'timed_out',
  'throttled',
  'bad_answer',
]);

/** What is away: the service, the warehouse, or anything else by its error code. */
const systemOf = ({ code }: RoadbookError): string =>
  SERVICE_CODES.has(code) ? 'service' : code.startsWith('warehouse_') ? 'warehouse' : code;

interface EndedRun {
  job: string;
  failures: readonly RoadbookError[];
  requests: number;
  startedMs: number;
  nowMs: number;
}

export type Outages = ReturnType<typeof createOutages>;

export function createOutages() {
  const open = new Map<string, { sinceMs: number; jobs: Set<string> }>();
  return {
    /**
     * `isKnown`: every failure of the run belongs to an outage that is already logged. `over`: the outages that the run shows
     * to be over, and how long each lasted, as far as runs noticed.
     */
    note({ job, failures, requests, startedMs, nowMs }: EndedRun) {
      const met = new Set(failures.filter(isPassing).map(systemOf));
      const isKnown = failures.length > 0 && failures.every((each) => isPassing(each) && open.has(systemOf(each)));
      const over: { system: string; ms: number }[] = [];
      // A run that was interrupted may have had no answer to its requests.
      const isInterrupted = failures.some(({ code }) => INTERRUPTED_CODES.includes(code));
      for (const [system, { sinceMs, jobs }] of open) {
        const getsThrough = system === 'service' ? requests > 0 : jobs.has(job);
        // A run that began before may have made its last call before the outage.
        if (isInterrupted || met.has(system) || !getsThrough || startedMs < sinceMs) continue;
        open.delete(system);
        over.push({ system, ms: nowMs - sinceMs });
      }
      for (const system of met) {
        const known = open.get(system) ?? { sinceMs: nowMs, jobs: new Set() };
        known.jobs.add(job);
        open.set(system, known);
      }
      return { isKnown, over };
    },
  };
}
