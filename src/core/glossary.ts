// The terms of the product, and the summary of a run, which every layer shares.
//
// service    the remote fleet API             ERP        where route plans come from
// warehouse  the SQL database that BI reads   job        one file in jobs/, named as the file
// run        one execution of a job           tick       the planned instant of a run
// slice      the smallest unit of pull work   record     an object as the service sends it
// row        a record as a table stores it    outbox     items to push, each entry with its state
// coverage   which periods have been read     quarantine invalid records, with the reason

/** How a run ended; `partial`: some items failed or were quarantined, the others are stored. */
export type RunStatus = 'ok' | 'partial' | 'failed';

/** Counters of a run. records = inserted + updated + unchanged + quarantined. */
export const zeroCounts = () => ({
  slices: 0,
  requests: 0,
  retries: 0,
  records: 0,
  inserted: 0,
  updated: 0,
  unchanged: 0,
  quarantined: 0,
  sent: 0,
  confirmed: 0,
  rejected: 0,
  unknown: 0,
});

export type RunCounts = ReturnType<typeof zeroCounts>;

export interface RunSummary extends RunCounts {
  job: string;
  run_id: string;
  status: RunStatus;
  started_at: string;
  finished_at: string;
  error: RunError | null;
}

export interface RunError {
  code: string;
  message: string;
  hint: string | null;
}

export function addCounts(total: RunCounts, more: RunCounts): void {
  for (const [name, count] of Object.entries(more)) total[name as keyof RunCounts] += count;
}
