// Bounds the retries of all calls together: a small reserve, then one retry for every five requests. When the service is
// down, retries stay a fraction of the traffic instead of multiplying it.

export interface RetryBudget {
  /** Call once for each request: it earns a fraction of a retry. */
  earn(): void;
  /** Takes one retry from the budget; false if none is left. */
  take(): boolean;
}

export interface RetryBudgetOptions {
  /** Retries available at the start, and the largest balance. */
  reserve: number;
  /** Fraction of a retry that one request adds. */
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
      // Rounding: five times 0.2 may be slightly less than 1.
      if (balance < 1 - 1e-9) return false;
      balance -= 1;
      return true;
    },
  };
}
