// The progress of a backfill: a separate coverage, stored in the transaction of the rows, so that the same backfill
// continues where it was interrupted. It is deleted when the backfill is finished, so that it can be requested again. A
// requested period never changes the live coverage: every hole after the start of that coverage would become due.
import type { RunContext } from '../../job.ts';

type Asked = Pick<RunContext, 'job' | 'period'>;

/** The name under which a run stores its coverage; undefined if it stores none. */
export function writtenCoverage({ job, period }: Asked): string | undefined {
  if (period === undefined) return job;
  return period.resumable ? `backfill ${job} ${period.beginAt}/${period.endAt}` : undefined;
}

/** The name of the coverage that a plan skips. A period that is not resumable is read completely. */
export const plannedCoverage = (asked: Asked): string => writtenCoverage(asked) ?? '';

export async function forgetBackfill(context: RunContext): Promise<void> {
  const job = writtenCoverage(context);
  if (context.period === undefined || job === undefined) return;
  await context.dependencies.engine.write(({ sql }) => sql('sync_coverage').where({ job }).delete());
}
