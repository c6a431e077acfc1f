// The pull engine: plans the slices of a run, has them worked, and puts together how they ended. One that is too large
// is cut, one that cannot be had is set aside and the others go on; what makes all of them pointless stops the run.
import { isoInstant } from '../../core/clock.ts';
import { asRoadbookError, Fatal, type RoadbookError } from '../../core/errors.ts';
import { noCounts, type RunCounts } from '../../core/glossary.ts';
import { withdrawFuture } from '../../warehouse/coverage.ts';
import type { Preview, RunContext, RunOutcome } from '../job.ts';
import type { Slice, SliceFacts, SliceOutcome } from '../slice.ts';
import { forgetBackfill, plannedCoverage } from './backfill-progress.ts';
import { createDimensionCheck, namesIn } from './dimension-check.ts';
import { makeDueAgain } from './due-again.ts';
import { pullSlice } from './slice.ts';
import { isTooLarge, isTooMuch, learnScale, readScale } from './slice-scale.ts';
import type { AnyPull, PlanContext } from './types.ts';

/** How long slices under way may take once the daemon drains. */
const DRAIN_MS = 5_000;

/** How far the clocks of two machines may differ; a greater lead is a clock that was wrong. */
const CLOCK_PLAY_MS = 60_000;

/** Records of a slice beyond which slices of the next run are made smaller: they are held in memory at once. */
const MOST_RECORDS = 25_000;

export async function executePull(job: AnyPull, context: RunContext): Promise<RunOutcome> {
  const { counts, log, parts } = context;
  const scale = await readScale(parts.engine, context.job);
  await withdrawFuture(parts.engine, plannedCoverage(context), isoInstant(parts.clock.now() + CLOCK_PLAY_MS));
  const planning = planContext(context, scale);
  await job.withdraw?.(planning, parts.engine);
  const planned = await job.plan(planning);
  const dimensions = createDimensionCheck(job, parts);
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
    dimensions.note(outcome);
    switch (outcome.end) {
      case 'loaded':
        loaded++;
        if (outcome.counts.records > MOST_RECORDS) cuts++;
        log.debug({ scope, ...outcome.counts }, 'slice loaded');
        context.onProgress?.(loaded, all);
        break;
      case 'cut':
        if (isTooLarge(outcome.code)) cuts++;
        all += outcome.parts.length - 1;
        for (const part of outcome.parts) slices.set(part.scope, part);
        log.info({ scope, parts: outcome.parts.length, code: outcome.code }, 'slice cut');
        break;
      case 'failed':
        failures.push(outcome.failure);
        failed.push(scope);
        log.warn({ scope, err: outcome.failure }, 'slice failed');
        if (outcome.failure instanceof Fatal) stop.abort(outcome.failure);
    }
  }

  const undo = cutAfterDraining(context, stop);
  await parts.dispatcher.dispatch({
    slices: planned,
    context,
    atOnce: job.slicesAtOnce ?? parts.concurrency,
    work: (slice) => workSlice(job, slice, { ...context, signal }),
    take,
    signal,
  });
  undo();
  if (loaded > 0 && !context.signal.aborted)
    await makeDueAgain(
      job,
      failed.flatMap((scope) => slices.get(scope) ?? []),
      context,
    );
  if (context.signal.aborted || context.draining?.aborted === true) {
    if (loaded < all) failures.push(stoppedEarly());
  } else await learnScale(parts, context.job, scale, cuts);
  if (failures.length === 0) await forgetBackfill(context);
  return { failures, worked: loaded > 0, wants: await dimensions.unmet() };
}

/** One slice to its end, whatever that is. */
export async function workSlice(job: AnyPull, slice: Slice, context: RunContext): Promise<SliceOutcome> {
  const counts = { ...noCounts(), slices: 1 };
  const names = namesIn(job);
  const facts = (): SliceFacts => ({ scope: slice.scope, counts, ...names.found() });
  try {
    Object.assign(counts, await pullSlice(job, slice, { ...context, counts }, names));
    return { ...facts(), end: 'loaded' };
  } catch (thrown) {
    if (context.signal.aborted) return { ...facts(), end: 'stopped' };
    const failure = asRoadbookError(thrown);
    const parts = isTooMuch(failure) ? job.split?.(slice, failure.code) : undefined;
    if (parts === undefined) return { ...facts(), end: 'failed', failure };
    return { ...facts(), end: 'cut', parts, code: failure.code };
  }
}

export async function previewPull(
  job: AnyPull,
  context: Pick<RunContext, 'job' | 'options' | 'period' | 'parts'>,
): Promise<Preview[]> {
  const scale = await readScale(context.parts.engine, context.job);
  const planning = planContext(context, scale);
  const slices = await job.plan(planning);
  return slices.map((slice) => ({
    what: slice.scope,
    detail: slice.work,
    calls: job.calls?.(slice, planning) ?? 1,
    further: job.furtherCalls?.(slice),
  }));
}

const planContext = (
  { job, options, period, parts }: Pick<RunContext, 'job' | 'options' | 'period' | 'parts'>,
  scale: number,
): PlanContext<Record<string, unknown>> => ({
  coverage: plannedCoverage({ job, period }),
  options,
  period,
  now: parts.clock.now(),
  timezone: parts.timezone,
  warehouse: parts.engine,
  asStored: parts.privacy.asStored,
  urlBytes: parts.fleet.urlBytes,
  scale,
});

/** A slice that is cut off is read again later, so a pull need not use up the time that a push may need. */
function cutAfterDraining({ draining, parts }: RunContext, stop: AbortController): () => void {
  const finished = new AbortController();
  const cut = () => stop.abort();
  const wait = () => void parts.clock.sleep(DRAIN_MS, finished.signal).then(cut, () => undefined);
  // It may have begun while the run was planned.
  if (draining?.aborted === true) wait();
  else draining?.addEventListener('abort', wait, { once: true });
  return () => {
    finished.abort();
    draining?.removeEventListener('abort', wait);
  };
}

const stoppedEarly = (): Fatal =>
  new Fatal('Stopped before it was finished', {
    code: 'stopped',
    hint: 'What was loaded is safe; the next run reads the rest.',
  });
