// Where a backfill has got to: its own coverage, kept beside the live one in the transaction of the rows, so that
// the same backfill goes on where it was cut. Finished, it is forgotten, and may be asked for again.
import type { RunContext } from '../job.ts';

type Asked = Pick<RunContext, 'job' | 'period'>;

/** The name of this backfill in `sync_coverage`; undefined for a run that is none. */
export const backfillName = ({ job, period }: Asked): string | undefined =>
  period?.resumable === true ? `backfill ${job} ${period.beginAt}/${period.endAt}` : undefined;

/** The name whose coverage a plan leaves out. A period that is asked for once is read whole, covered or not. */
export const plannedCoverage = (asked: Asked): string =>
  asked.period === undefined ? asked.job : (backfillName(asked) ?? '');

export async function forgetBackfill(context: RunContext): Promise<void> {
  const job = backfillName(context);
  if (job === undefined) return;
  await context.parts.engine.write(({ sql }) => sql('sync_coverage').where({ job }).delete());
}
