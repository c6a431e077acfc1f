// A period that a run could not read again is due until it is read: it would leave the reach of the lookback otherwise,
// and what the service changed in it would never arrive. The instant that it begins with stays covered, since it may be
// the first of all, and the plan begins there.
import { isoInstant } from '../../core/clock.ts';
import { asRoadbookError } from '../../core/errors.ts';
import { uncover } from '../../warehouse/coverage.ts';
import type { RunContext } from '../job.ts';
import { writtenCoverage } from './backfill-progress.ts';
import type { AnyPull, Slice } from './pull-job.ts';

/** Only what is over: the end of what goes on is due in any case. */
export async function makeDueAgain(pull: AnyPull, slice: Slice, context: RunContext): Promise<void> {
  const { parts, log } = context;
  const job = writtenCoverage(context);
  const now = isoInstant(parts.clock.now());
  const due = (pull.dueAgain?.(slice) ?? []).filter(({ endAt }) => endAt <= now);
  if (job === undefined || due.length === 0) return;
  try {
    await parts.engine.write(async (tx) => {
      for (const { scopes, beginAt, endAt } of due) {
        await uncover(tx, { scopes, beginAt: isoInstant(Date.parse(beginAt) + 1), endAt }, { job });
      }
    });
  } catch (thrown) {
    // The database may be what failed.
    log.warn({ scope: slice.scope, err: asRoadbookError(thrown) }, 'slice not noted as due again');
  }
}
