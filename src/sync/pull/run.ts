// The pull engine: plans the slices of a run, has them worked, and puts together how they ended. One that is too large
// is cut, one that cannot be had is set aside and the others go on; what makes all of them pointless stops the run.

import { asRoadbookError, Fatal, type RoadbookError } from '../../core/errors.ts';
import { noCounts, type RunCounts } from '../../core/glossary.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { invalidate, invalidateFuture } from '../../warehouse/control/coverage.ts';
import { createLateIndexes } from '../../warehouse/schema/converge.ts';
import type { Preview, RunContext, RunOutcome } from '../job.ts';
import type { Slice, SliceFacts, SliceOutcome } from '../slice.ts';
import { priorityOf } from './calls.ts';
import { forgetBackfill, plannedCoverage, writtenCoverage } from './plan/backfill-progress.ts';
import { isTooLarge, isTooMuch, learnScale, readScale } from './plan/slice-scale.ts';
import { createReferenceCheck, referencesInSlice } from './references.ts';
import { pullSlice } from './slice.ts';
import type { PlanContext, Pull } from './types.ts';

/** How long slices under way may take once the daemon drains. */
const DRAIN_MS = 5_000;

/** How far the clocks of two machines may differ; a greater lead is a clock that was wrong. */
const CLOCK_PLAY_MS = 60_000;

/** Records of a slice beyond which slices of the next run are made smaller: they are held in memory at once. */
const MOST_RECORDS = 25_000;

export async function executePull(job: Pull, context: RunContext): Promise<RunOutcome> {
  const { counts, log, dependencies } = context;
  const scale = await readScale(dependencies.engine, context.job);
  await invalidateFuture(
    dependencies.engine,
    plannedCoverage(context),
    isoInstant(dependencies.clock.now() + CLOCK_PLAY_MS),
  );
  const planning = planContext(context, scale);
  const { slices: due, invalidate } = await job.plan(planning);
  if (invalidate !== undefined) await dependencies.engine.write(invalidate);
  // History waits for the live calls of every job, so it must not hold up the live slices of its own run.
  const planned = due.toSorted((a, b) => priorityOf(b, context) - priorityOf(a, context));
  const references = createReferenceCheck(job, dependencies);
  const failures: RoadbookError[] = [];
  const slices = new Map(planned.map((slice) => [slice.scope, slice]));
  const failed: string[] = [];
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  let loaded = 0;
  let cuts = 0;
  let all = planned.length;

  function take(outcome: SliceOutcome): void {
    const { scope } = outcome;
    for (const name of Object.keys(counts) as (keyof RunCounts)[]) counts[name] += outcome.counts[name];
    references.note(outcome);
    switch (outcome.end) {
      case 'loaded':
        loaded++;
        if (outcome.counts.records > MOST_RECORDS) cuts++;
        log.debug({ scope, ...outcome.counts }, 'slice loaded');
        context.onProgress?.(loaded, all);
        break;
      case 'cut':
        if (isTooLarge(outcome.code)) cuts++;
        all += outcome.slices.length - 1;
        for (const part of outcome.slices) slices.set(part.scope, part);
        log.info({ scope, slices: outcome.slices.length, code: outcome.code }, 'slice cut');
        break;
      case 'failed':
        failures.push(outcome.failure);
        failed.push(scope);
        log.warn({ scope, err: outcome.failure }, 'slice failed');
        if (outcome.failure instanceof Fatal) stop.abort(outcome.failure);
    }
  }

  const undo = cutAfterDraining(context, stop);
  try {
    await dependencies.dispatcher.dispatch({
      slices: planned,
      context,
      atOnce: job.slicesAtOnce ?? dependencies.concurrency,
      work: (slice) => workSlice(job, slice, { ...context, signal }),
      take,
      signal,
    });
  } finally {
    undo();
    await completeIndexes(job, context);
  }
  if (loaded > 0 && !context.signal.aborted) {
    const stillDue = failed.flatMap((scope) => slices.get(scope) ?? []).filter(({ staysDue }) => staysDue);
    await makeDueAgain(stillDue, context);
  }
  if (context.signal.aborted || context.draining?.aborted === true) {
    if (loaded < all) failures.push(stoppedEarly());
  } else await learnScale(dependencies, context.job, scale, cuts);
  if (failures.length === 0) await forgetBackfill(context);
  return { failures, worked: loaded > 0, wants: await references.unmet() };
}

/** One slice to its end, whatever that is. */
export async function workSlice(job: Pull, slice: Slice, context: RunContext): Promise<SliceOutcome> {
  const counts = { ...noCounts(), slices: 1 };
  const references = referencesInSlice(job);
  const facts = (): SliceFacts => ({ scope: slice.scope, counts, ...references.found() });
  try {
    Object.assign(counts, await pullSlice(job, slice, { ...context, counts }, references));
    return { ...facts(), end: 'loaded' };
  } catch (thrown) {
    if (context.signal.aborted) return { ...facts(), end: 'stopped' };
    const failure = asRoadbookError(thrown);
    const smaller = isTooMuch(failure) ? job.split?.(slice, failure.code) : undefined;
    if (smaller === undefined) return { ...facts(), end: 'failed', failure };
    return { ...facts(), end: 'cut', slices: smaller, code: failure.code };
  }
}

export async function previewPull(
  job: Pull,
  context: Pick<RunContext, 'job' | 'options' | 'period' | 'dependencies'>,
): Promise<Preview[]> {
  const scale = await readScale(context.dependencies.engine, context.job);
  const planning = planContext(context, scale);
  const { slices } = await job.plan(planning);
  return slices.map(({ scope, work, calls = 1, furtherCalls }) => ({
    what: scope,
    detail: work,
    calls,
    further: furtherCalls,
  }));
}

const planContext = (
  { job, options, period, dependencies }: Pick<RunContext, 'job' | 'options' | 'period' | 'dependencies'>,
  scale: number,
): PlanContext<Record<string, unknown>> => ({
  coverageName: plannedCoverage({ job, period }),
  options,
  period,
  now: dependencies.clock.now(),
  timezone: dependencies.timezone,
  warehouse: dependencies.engine,
  asStored: dependencies.privacy.asStored,
  urlBytes: dependencies.fleet.urlBytes,
  scale,
});

/** However the run ends. The rows are stored, so a failure is not one of the run: the next run or start tries again. */
async function completeIndexes({ into }: Pull, { dependencies, log }: RunContext): Promise<void> {
  const filled = into.map(([, table]) => table);
  await createLateIndexes(dependencies.engine, filled).catch((thrown) =>
    log.warn({ err: asRoadbookError(thrown) }, 'indexes not created'),
  );
}

/** A slice that is cut off is read again later, so a pull need not use up the time that a push may need. */
function cutAfterDraining({ draining, dependencies }: RunContext, stop: AbortController): () => void {
  const finished = new AbortController();
  const cut = () => stop.abort();
  const wait = () => void dependencies.clock.sleep(DRAIN_MS, finished.signal).then(cut, () => undefined);
  // It may have begun while the run was planned.
  if (draining?.aborted === true) wait();
  else draining?.addEventListener('abort', wait, { once: true });
  return () => {
    finished.abort();
    draining?.removeEventListener('abort', wait);
  };
}

/**
 * A period that a run could not read again is due until it is read: other slices move the edge on, so it would leave the
 * reach of the lookback, and what the service changed in it would never arrive. Only what is over: the end of what goes on
 * is due in any case. The instant that it begins with stays covered, since it may be the first of all, and the plan begins
 * there.
 */
async function makeDueAgain(failed: readonly Slice[], context: RunContext): Promise<void> {
  const { engine, clock } = context.dependencies;
  const job = writtenCoverage(context);
  const now = isoInstant(clock.now());
  const over = failed.flatMap(({ covers = [] }) => covers).filter(({ endAt }) => endAt <= now);
  if (job === undefined || over.length === 0) return;
  await engine.write(async (tx) => {
    for (const { scopes, beginAt, endAt } of over) {
      await invalidate(tx, { scopes, beginAt: isoInstant(Date.parse(beginAt) + 1), endAt }, { job });
    }
  });
}

const stoppedEarly = (): Fatal =>
  new Fatal('Stopped before it was finished', {
    code: 'stopped',
    hint: 'What was loaded is safe; the next run reads the rest.',
  });
