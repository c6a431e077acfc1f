// A period that a run could not read again is due until it is read: others move the edge on, so it would leave the reach
// of the lookback, and what the service changed in it would never arrive. The instant that it begins with stays covered,
// since it may be the first of all, and the plan begins there.
import { isoInstant } from '../../../core/clock.ts';
import { invalidate } from '../../../warehouse/coverage.ts';
import type { RunContext } from '../../job.ts';
import type { Slice } from '../../slice.ts';
import type { AnyPull } from '../types.ts';
import { writtenCoverage } from './backfill-progress.ts';

/** Only what is over: the end of what goes on is due in any case. */
export async function makeDueAgain(
  pull: AnyPull,
  failed: readonly Slice[],
  context: RunContext,
): Promise<void> {
  const { engine, clock } = context.parts;
  const job = writtenCoverage(context);
  const now = isoInstant(clock.now());
  const due = failed.flatMap((slice) => pull.dueAgain?.(slice) ?? []).filter(({ endAt }) => endAt <= now);
  if (job === undefined || due.length === 0) return;
  await engine.write(async (tx) => {
    for (const { scopes, beginAt, endAt } of due) {
      await invalidate(tx, { scopes, beginAt: isoInstant(Date.parse(beginAt) + 1), endAt }, { job });
    }
  });
}
