// What really happened, counted on arrival and on acceptance: the oracle of the tests. It never counts the
// admin endpoints. `per_minute_max` slides over the time that clients share with the sandbox.
import { MINUTE_MS } from './world/company-time.ts';

export interface Ledger {
  logins: number;
  logins_refused: number;
  renewals: number;
  renewals_refused: number;
  /** Requests that arrived, by call, whatever became of them. */
  requests: Record<string, number>;
  /** Answers by status; a request without an answer counts as `none`. */
  requests_by_status: Record<string, number>;
  max_in_flight: number;
  /** The most requests in any 60 seconds. */
  per_minute_max: number;
  /** How often each was accepted. */
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
  const book = emptyLedger();
  const lastMinute = createSlidingCount(MINUTE_MS);
  let inFlight = 0;

  const count: LedgerRecorder['count'] = (list, name) => {
    book[list][name] = (book[list][name] ?? 0) + 1;
  };

  return {
    read: () => structuredClone(book),
    session: (what) => {
      book[what] += 1;
    },
    count,
    arrived(call) {
      count('requests', call);
      inFlight += 1;
      book.max_in_flight = Math.max(book.max_in_flight, inFlight);
      book.per_minute_max = Math.max(book.per_minute_max, lastMinute(wallNow()));
    },
    left(status) {
      inFlight -= 1;
      count('requests_by_status', status === undefined ? 'none' : String(status));
    },
  };
}

/** Without a prototype: a plan may be called `constructor`. */
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

/** Adds an instant and tells how many lie within `spanMs` up to it. */
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
