// The pull engine: works through the slices of a run, several at once. While one loads, others fetch; only so
// many slices are in memory. One that is too large is cut, one that cannot be had is set aside and the
// others go on; what makes all of them pointless stops the run.
import PQueue from 'p-queue';
import { isoInstant } from '../../core/clock.ts';
import { asRoadbookError, Fatal, type RoadbookError } from '../../core/errors.ts';
import { withdrawFuture } from '../../warehouse/coverage.ts';
import type { Preview, RunContext, RunOutcome } from '../job.ts';
import { forgetBackfill, plannedCoverage } from './backfill-progress.ts';
import { createDimensionCheck } from './dimension-check.ts';
import type { AnyPull, PlanContext, Slice } from './pull-job.ts';
import { pullSlice } from './slice.ts';
import { isTooMuch, learnScale, readScale } from './slice-scale.ts';

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
  const planned = await job.plan(planContext(context, scale));
  const dimensions = createDimensionCheck(job, parts);
  const failures: RoadbookError[] = [];
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const lanes = new PQueue({ concurrency: job.slicesAtOnce ?? parts.concurrency });
  let loaded = 0;
  let cuts = 0;
  let all = planned.length;
  const done = () => context.onProgress?.(loaded, all);

  async function work(slice: Slice): Promise<void> {
    if (signal.aborted) return;
    if (context.draining?.aborted === true) return;
    counts.slices++;
    try {
      const brought = await pullSlice(job, slice, { ...context, signal }, dimensions.note);
      for (const [name, count] of Object.entries(brought)) counts[name as keyof typeof brought] += count;
      loaded++;
      if (brought.records > MOST_RECORDS) cuts++;
      log.debug({ scope: slice.scope, ...brought }, 'slice loaded');
      done();
    } catch (thrown) {
      if (signal.aborted) return;
      const failure = asRoadbookError(thrown);
      const parts = isTooMuch(failure) ? job.split?.(slice) : undefined;
      if (parts === undefined) return setAside(slice, failure);
      cuts++;
      all += parts.length - 1;
      log.info({ scope: slice.scope, parts: parts.length, code: failure.code }, 'slice cut');
      for (const part of parts) void lanes.add(() => work(part));
    }
  }

  function setAside(slice: Slice, failure: RoadbookError): void {
    failures.push(failure);
    log.warn({ scope: slice.scope, err: failure }, 'slice failed');
    if (failure instanceof Fatal) stop.abort(failure);
  }

  const undo = cutAfterDraining(context, stop);
  for (const slice of planned) void lanes.add(() => work(slice));
  await lanes.onIdle();
  undo();
  if (context.signal.aborted || context.draining?.aborted === true) {
    if (loaded < all) failures.push(stoppedEarly());
  } else await learnScale(parts, context.job, scale, cuts);
  if (failures.length === 0) await forgetBackfill(context);
  return { failures, worked: loaded > 0, wants: await dimensions.unmet() };
}

export async function previewPull(
  job: AnyPull,
  context: Pick<RunContext, 'job' | 'options' | 'period' | 'parts'>,
): Promise<Preview[]> {
  const scale = await readScale(context.parts.engine, context.job);
  const slices = await job.plan(planContext(context, scale));
  return slices.map((slice) => ({
    what: slice.scope,
    detail: slice.work,
    calls: job.calls?.(slice, context.options) ?? 1,
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
  urlBytes: parts.fleet.urlBytes,
  scale,
});

/** A slice that is cut off is read again later, so a pull need not use up the time that a push may need. */
function cutAfterDraining({ draining, parts }: RunContext, stop: AbortController): () => void {
  const finished = new AbortController();
  const cut = () => stop.abort();
  const wait = () => void parts.clock.sleep(DRAIN_MS, finished.signal).then(cut, () => undefined);
  draining?.addEventListener('abort', wait, { once: true });
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
