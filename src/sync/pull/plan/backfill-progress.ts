// Where a backfill has got to: a coverage of its own, kept in the transaction of the rows, so that the same
// backfill goes on where it was cut. Finished, it is forgotten, and may be asked for again. A period that was asked
// for never touches the live coverage: that one has a beginning, and every hole after it is due.
import type { RunContext } from '../../job.ts';

type Asked = Pick<RunContext, 'job' | 'period'>;

/** The name under which a run notes what it has read; undefined where it notes nothing. */
export function writtenCoverage({ job, period }: Asked): string | undefined {
  if (period === undefined) return job;
  return period.resumable ? `backfill ${job} ${period.beginAt}/${period.endAt}` : undefined;
}

/** The name whose coverage a plan leaves out; a period that is asked for once is read whole. */
export const plannedCoverage = (asked: Asked): string => writtenCoverage(asked) ?? '';

export async function forgetBackfill(context: RunContext): Promise<void> {
  const job = writtenCoverage(context);
  if (context.period === undefined || job === undefined) return;
  await context.dependencies.engine.write(({ sql }) => sql('sync_coverage').where({ job }).delete());
}
