// Where a backfill has got to: the scopes it has loaded, kept in the transaction of their rows, so that the same
// backfill goes on where it was cut. Finished, it is forgotten, and may be asked for again.
import type { Transaction } from '../warehouse/engine.ts';
import type { RunContext } from './job.ts';
import type { Slice } from './pull-job.ts';

type Asked = Pick<RunContext, 'job' | 'period' | 'runId'>;

/** The name of this backfill in `sync_coverage`, beside the live coverage of the job. */
const nameOf = ({ job, period }: Asked): string | undefined =>
  period?.resumable === true ? `backfill ${job} ${period.beginAt}/${period.endAt}` : undefined;

/** The slices that the same backfill has not loaded yet. */
export async function remainingSlices(context: RunContext, planned: readonly Slice[]): Promise<Slice[]> {
  const job = nameOf(context);
  if (job === undefined) return [...planned];
  const rows = await context.parts.engine.read((sql) => sql('sync_coverage').where({ job }).select('scope'));
  const loaded = new Set(rows.map(({ scope }) => scope as string));
  return planned.filter(({ scope }) => !loaded.has(scope));
}

export async function noteBackfilled(
  { sql }: Transaction,
  context: Asked,
  { scope }: Slice,
  at: string,
): Promise<void> {
  const job = nameOf(context);
  if (job === undefined || context.period === undefined) return;
  const { beginAt, endAt } = context.period;
  await sql('sync_coverage')
    .insert({ job, scope, begin_at: beginAt, end_at: endAt, covered_at: at, run_id: context.runId })
    .onConflict(['job', 'scope', 'begin_at'])
    .merge();
}

export async function forgetBackfill(context: RunContext): Promise<void> {
  const job = nameOf(context);
  if (job === undefined) return;
  await context.parts.engine.write(({ sql }) => sql('sync_coverage').where({ job }).delete());
}
