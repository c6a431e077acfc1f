// Coverage: which periods of a scope have been read in full. Intervals that touch are one interval.
import type { Transaction } from './engine.ts';

export interface Interval {
  /** ISO instants, UTC; `endAt` is exclusive. */
  beginAt: string;
  endAt: string;
}

/** Begin of the coverage of a listing that has no period: it speaks of everything until its end. */
export const EVER = '1970-01-01T00:00:00.000Z';

export interface Covered extends Interval {
  job: string;
  scope: string;
}

/** Adds an interval in the transaction of its rows. */
export async function cover(
  { sql }: Transaction,
  covered: Covered,
  runId: string,
  at: string,
): Promise<void> {
  const touching = sql('sync_coverage')
    .where({ job: covered.job, scope: covered.scope })
    .where('begin_at', '<=', covered.endAt)
    .where('end_at', '>=', covered.beginAt);
  const [bounds] = await touching.clone().min('begin_at as first').max('end_at as last');
  await touching.clone().delete();
  await sql('sync_coverage').insert({
    job: covered.job,
    scope: covered.scope,
    begin_at: earliest(bounds?.first, covered.beginAt),
    end_at: latest(bounds?.last, covered.endAt),
    covered_at: at,
    run_id: runId,
  });
}

const earliest = (a: string | null | undefined, b: string): string => (a != null && a < b ? a : b);
const latest = (a: string | null | undefined, b: string): string => (a != null && a > b ? a : b);
