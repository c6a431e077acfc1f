// Counts every request on arrival and every write on acceptance: the ground truth of the tests. Admin endpoints are not
// counted. `per_minute_max` is a sliding window over the time that clients share with the sandbox.
import { MINUTE_MS } from './world/company-time.ts';

export interface Ledger {
  logins: number;
  logins_refused: number;
  renewals: number;
  renewals_refused: number;
  /** Requests that arrived, by call, whatever their outcome. */
  requests: Record<string, number>;
  /** Answers by status; a request without an answer counts as `none`. */
  requests_by_status: Record<string, number>;
  max_in_flight: number;
  /** The most requests in any 60 seconds. */
  per_minute_max: number;
  /** How often each external code was accepted; the next three count other writes the same way. */
  plans: Record<string, number>;
  points_of_interest: Record<string, number>;
  agents: Record<string, number>;
  itineraries: Record<string, number>;
  faults_injected: Record<string, number>;
}

type Counted = 'requests' | 'requests_by_status' | 'plans' | 'points_of_interest' | 'agents' | 'itineraries';

export interface LedgerRecorder {
  read(): Ledger;
  session(what: 'logins' | 'logins_refused' | 'renewals' | 'renewals_refused'): void;
  count(list: Counted | 'faults_injected', name: string): void;
  arrived(call: string): void;
  left(status: number | undefined): void;
}

export function createLedger(wallNow: () => number): LedgerRecorder {
  const ledger = emptyLedger();
  const lastMinute = createSlidingCount(MINUTE_MS);
  let inFlight = 0;

  const count: LedgerRecorder['count'] = (list, name) => {
    ledger[list][name] = (ledger[list][name] ?? 0) + 1;
  };

  return {
    read: () => structuredClone(ledger),
    session: (what) => {
      ledger[what] += 1;
    },
    count,
    arrived(call) {
      count('requests', call);
      inFlight += 1;
      ledger.max_in_flight = Math.max(ledger.max_in_flight, inFlight);
      ledger.per_minute_max = Math.max(ledger.per_minute_max, lastMinute(wallNow()));
    },
    left(status) {
      inFlight -= 1;
      count('requests_by_status', status === undefined ? 'none' : String(status));
    },
  };
}

/** No prototype, because a plan may have the code `constructor`. */
const noCounts = (): Record<string, number> => Object.create(null) as Record<string, number>;

const emptyLedger = (): Ledger => ({
  logins: 0,
  logins_refused: 0,
  renewals: 0,
  renewals_refused: 0,
  requests: noCounts(),
  requests_by_status: noCounts(),
  max_in_flight: 0,
  per_minute_max: 0,
  plans: noCounts(),
  points_of_interest: noCounts(),
  agents: noCounts(),
  itineraries: noCounts(),
  faults_injected: noCounts(),
});

/** Adds an instant and returns how many lie within the last `spanMs`. */
function createSlidingCount(spanMs: number): (at: number) => number {
  let instants: number[] = [];
  let first = 0;
  return (at) => {
    instants.push(at);
    while ((instants[first] as number) <= at - spanMs) first += 1;
    if (first > 10_000) {
      instants = instants.slice(first);
      first = 0;
    }
    return instants.length - first;
  };
}
