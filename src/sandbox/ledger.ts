// Counts every request on arrival and every write on acceptance: the ground truth of the tests. Admin endpoints are not
// counted.
import { MINUTE_MS } from './world/company-time.ts';

/** No prototype, because a plan may have the code `constructor`. */
const zeroCounts = (): Record<string, number> => Object.create(null);

const emptyLedger = () => ({
  logins: 0,
  logins_rejected: 0,
  renewals: 0,
  renewals_rejected: 0,
  /** Requests that arrived, by call, whatever their outcome. */
  requests: zeroCounts(),
  /** Answers by status; a request without an answer counts as `none`. */
  requests_by_status: zeroCounts(),
  max_in_flight: 0,
  /** The most requests in any 60 seconds of the time that clients share with the sandbox. */
  per_minute_max: 0,
  /** How often each external code was accepted; the next three count other writes the same way. */
  plans: zeroCounts(),
  points_of_interest: zeroCounts(),
  agents: zeroCounts(),
  itineraries: zeroCounts(),
  faults_injected: zeroCounts(),
});

export type Ledger = ReturnType<typeof emptyLedger>;
type SessionCount = 'logins' | 'logins_rejected' | 'renewals' | 'renewals_rejected';
type CountedList = Exclude<keyof Ledger, SessionCount | 'max_in_flight' | 'per_minute_max'>;

export type LedgerRecorder = ReturnType<typeof createLedger>;

export function createLedger(wallNow: () => number) {
  const ledger = emptyLedger();
  const lastMinute: number[] = [];
  let inFlight = 0;

  const count = (list: CountedList, name: string): void => {
    ledger[list][name] = (ledger[list][name] ?? 0) + 1;
  };

  return {
    read: () => structuredClone(ledger),
    session(what: SessionCount): void {
      ledger[what] += 1;
    },
    count,
    arrived(call: string): void {
      count('requests', call);
      inFlight += 1;
      ledger.max_in_flight = Math.max(ledger.max_in_flight, inFlight);
      const now = wallNow();
      lastMinute.push(now);
      while ((lastMinute[0] as number) <= now - MINUTE_MS) lastMinute.shift();
      ledger.per_minute_max = Math.max(ledger.per_minute_max, lastMinute.length);
    },
    left(status: number | undefined): void {
      inFlight -= 1;
      count('requests_by_status', String(status ?? 'none'));
    },
  };
}
