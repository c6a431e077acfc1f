// Bounds retries over all calls together: a few in reserve, then one for every five requests. When the service
// is down for everybody, retries stay a fraction of the traffic instead of multiplying it.

export interface RetryBudget {
  /** A request was made: it pays for a part of a retry. */
  earn(): void;
  /** Takes one retry out of the budget; false when there is none left. */
  take(): boolean;
}

export interface RetryBudgetOptions {
  /** Retries at hand at the start, and the most that are ever saved up. */
  reserve: number;
  /** What one request adds. */
  perRequest: number;
}

export const DEFAULT_RETRY_BUDGET: RetryBudgetOptions = { reserve: 20, perRequest: 0.2 };

export function createRetryBudget({ reserve, perRequest } = DEFAULT_RETRY_BUDGET): RetryBudget {
  let balance = reserve;
  return {
    earn() {
      balance = Math.min(reserve, balance + perRequest);
    },
    take() {
      // Five times 0.2 is a hair under 1 in binary.
      if (balance < 1 - 1e-9) return false;
      balance -= 1;
      return true;
    },
  };
}
