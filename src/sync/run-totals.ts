// What the runs of this process have counted since it began, for the metrics: runs that ended by status, and the counts of
// all runs, those under way included. Runs of other processes are counted there.
import { addCounts, type RunCounts, type RunStatus, zeroCounts } from '../core/glossary.ts';

export interface JobTotals {
  ended: Record<RunStatus, number>;
  counts: RunCounts;
}

export type RunTotals = ReturnType<typeof createRunTotals>;

export function createRunTotals() {
  const jobs = new Map<string, JobTotals & { underWay: Set<RunCounts> }>();
  const totalsOf = (job: string) => {
    const known = jobs.get(job) ?? {
      ended: { ok: 0, partial: 0, failed: 0 },
      counts: zeroCounts(),
      underWay: new Set<RunCounts>(),
    };
    jobs.set(job, known);
    return known;
  };
  return {
    /** `counts` may grow until the returned function is called with the status of the run. */
    begin(job: string, counts: RunCounts): (status: RunStatus) => void {
      const totals = totalsOf(job);
      totals.underWay.add(counts);
      return (status) => {
        totals.underWay.delete(counts);
        totals.ended[status]++;
        addCounts(totals.counts, counts);
      };
    },
    of(job: string): JobTotals {
      const { ended, counts, underWay } = totalsOf(job);
      const sum = { ...counts };
      for (const each of underWay) addCounts(sum, each);
      return { ended: { ...ended }, counts: sum };
    },
  };
}
