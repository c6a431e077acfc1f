// The pull engine: plans the slices of a run, dispatches them, and collects their outcomes. A slice that is too large is
// cut. A slice that fails does not stop the others, except for a fatal failure, which stops the run.

import { asRoadbookError, Fatal, isPassing, type RoadbookError } from '../../core/errors.ts';
import { addCounts, zeroCounts } from '../../core/glossary.ts';
import { PRIORITY } from '../../core/rate/rate.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { invalidate, invalidateFuture, type ScopedInterval } from '../../warehouse/control/coverage.ts';
import { factMemory } from '../../warehouse/control/learned-facts.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { createLateIndexes } from '../../warehouse/schema/converge.ts';
import type { SyncDependencies } from '../dependencies.ts';
import type { Preview, PreviewContext, RunContext, RunOutcome } from '../job.ts';
import { stoppedEarly } from '../run.ts';
import type { Slice, SliceOutcome } from '../slice.ts';
import { historyOrder, priorityOf } from './calls.ts';
import { forgetBackfill, plannedCoverage } from './plan/backfill-progress.ts';
import { canBeCut, isRejected, isTooLarge, isTooMuch } from './plan/slice-limits.ts';
import { referencesInSlice } from './references.ts';
import { pullSlice } from './slice.ts';
import type { PlanContext, Pull } from './types.ts';

/** How long slices in progress may take once the daemon drains. */
const DRAIN_MS = 5_000;

/** How far the clocks of two machines may differ. Coverage further in the future comes from a wrong clock. */
const CLOCK_SKEW_MS = 60_000;

/** If a slice has more records, the slices of the next run are smaller: a slice is held in memory. */
const MOST_RECORDS = 25_000;

export async function executePull(job: Pull, context: RunContext): Promise<RunOutcome> {
  const { counts, log, dependencies } = context;
  const scale = await readScale(dependencies.engine, context.job);
  await invalidateFuture(
    dependencies.engine,
    plannedCoverage(context),
    isoInstant(dependencies.clock.now() + CLOCK_SKEW_MS),
  );
  const { slices: due, finish } = await job.plan(planContext(context, scale));
  // Calls for history wait for live calls of every job, so they must not delay the live slices of this run.
  const planned = due.toSorted(
    (a, b) => priorityOf(b, context) - priorityOf(a, context) || historyOrder(a, context) - historyOrder(b, context),
  );
  const followUpJobs = new Set<string>();
  const failures: RoadbookError[] = [];
  const slices = new Map(planned.map((slice) => [slice.scope, slice]));
  const loaded = new Set<string>();
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  /** Where no slice can be smaller, as that of all drivers of a day, the scale would only make more calls of it. */
  const hasSmaller = (scope: string): boolean => {
    const slice = slices.get(scope);
    return slice !== undefined && canBeCut(job, slice);
  };
  let cuts = 0;
  let all = planned.length;

  function take(outcome: SliceOutcome): void {
    const { scope } = outcome;
    addCounts(counts, outcome.counts);
    switch (outcome.end) {
      case 'loaded':
        loaded.add(scope);
        for (const name of outcome.followUpJobs) followUpJobs.add(name);
        if (outcome.counts.records > MOST_RECORDS && hasSmaller(scope)) cuts++;
        log.debug({ scope, ...outcome.counts }, 'slice loaded');
        context.onProgress?.(loaded.size, all);
        break;
      case 'cut':
        if (isTooLarge(outcome.code)) cuts++;
        all += outcome.slices.length - 1;
        slices.delete(scope);
        for (const part of outcome.slices) slices.set(part.scope, part);
        log.info({ scope, slices: outcome.slices.length, code: outcome.code }, 'slice cut');
        break;
      case 'failed':
        failures.push(outcome.failure);
        // The end of the run names a failure that may pass; in an outage every slice has the same.
        log[isPassing(outcome.failure) ? 'debug' : 'warn']({ scope, err: outcome.failure }, 'slice failed');
        if (outcome.failure instanceof Fatal) stop.abort(outcome.failure);
    }
  }

  const stopWatching = abortAfterDraining(context, stop);
  try {
    await dependencies.dispatcher.dispatch({
      slices: planned,
      context,
      atOnce: job.slicesAtOnce ?? dependencies.concurrency,
      isHistory: (slice) => priorityOf(slice, context) === PRIORITY.history,
      work: (slice) => workSlice(job, slice, { ...context, signal }),
      take,
      signal,
    });
  } finally {
    stopWatching();
    await completeIndexes(job, context);
  }
  if (loaded.size > 0 && !context.signal.aborted) {
    const [read = [], unread = []] = [true, false].map((isRead) =>
      [...slices.values()].flatMap(({ scope, covers = [] }) => (loaded.has(scope) === isRead ? covers : [])),
    );
    await makeDueAgain(unread, read, context);
    if (finish !== undefined) await dependencies.engine.write((tx) => finish(tx, unread));
  }
  if (context.signal.aborted || context.draining?.aborted === true) {
    if (loaded.size < all) failures.push(stoppedEarly('The loaded slices are stored; the next run reads the rest.'));
  } else await learnScale(dependencies, context.job, scale, cuts);
  if (failures.length === 0) await forgetBackfill(context);
  return { failures, worked: loaded.size > 0, followUpJobs: [...followUpJobs] };
}

/** Reads one slice; never throws. */
export async function workSlice(job: Pull, slice: Slice, context: RunContext): Promise<SliceOutcome> {
  const counts = { ...zeroCounts(), slices: 1 };
  const references = referencesInSlice(job);
  const facts = { scope: slice.scope, counts };
  try {
    await pullSlice(job, slice, { ...context, counts }, references);
    return { ...facts, end: 'loaded', followUpJobs: await references.missingJobs(context.dependencies) };
  } catch (thrown) {
    if (context.signal.aborted) return { ...facts, end: 'stopped' };
    const failure = asRoadbookError(thrown);
    const cut = isTooMuch(failure) ? job.split : isRejected(failure) ? job.splitRejected : undefined;
    const smaller = cut?.(slice, failure.code);
    if (smaller === undefined) return { ...facts, end: 'failed', failure };
    return { ...facts, end: 'cut', slices: smaller, code: failure.code };
  }
}

export async function plannedSlices(job: Pull, context: PreviewContext): Promise<Slice[]> {
  const scale = await readScale(context.dependencies.engine, context.job);
  return (await job.plan(planContext(context, scale))).slices;
}

export async function previewPull(job: Pull, context: PreviewContext): Promise<Preview[]> {
  return (await plannedSlices(job, context)).map(({ scope, work, calls = 1, furtherCalls }) => ({
    what: scope,
    detail: work,
    calls,
    further: furtherCalls,
  }));
}

const planContext = (
  { job, options, period, dependencies }: PreviewContext,
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

const SMALLEST_SCALE = 1 / 4_096;
const GROWTH = 1.5;

const scaleFact = (job: string): string => `slice scale of ${job}`;

/** The scale of slices: halved when a slice was too large or too slow, stored, increased again while runs succeed. */
const readScale = async (engine: Engine, job: string): Promise<number> =>
  (await factMemory<number>(engine, scaleFact(job)).read()) ?? 1;

/** Stores the scale of the next run, from the scale of this run and its number of cuts. */
async function learnScale({ engine, clock }: SyncDependencies, job: string, scale: number, cuts: number) {
  const next = cuts > 0 ? Math.max(SMALLEST_SCALE, scale / 2) : Math.min(1, scale * GROWTH);
  if (next !== scale) await factMemory<number>(engine, scaleFact(job)).write(next, clock.now());
}

/** Runs however the run ends. The rows are stored, so a failure here does not fail the run: the next run tries again. */
async function completeIndexes({ into }: Pull, { dependencies, log }: RunContext): Promise<void> {
  const filled = into.map(([, table]) => table);
  await createLateIndexes(dependencies.engine, filled).catch((thrown) =>
    log.warn({ err: asRoadbookError(thrown) }, 'indexes not created'),
  );
}

/** An aborted slice is read again later, so a pull leaves the rest of the drain time to pushes. */
function abortAfterDraining({ draining, dependencies }: RunContext, stop: AbortController): () => void {
  const finished = new AbortController();
  const abort = () => stop.abort();
  const wait = () => void dependencies.clock.sleep(DRAIN_MS, finished.signal).then(abort, () => undefined);
  // Draining may have begun while the run was planned.
  if (draining?.aborted === true) wait();
  else draining?.addEventListener('abort', wait, { once: true });
  return () => {
    finished.abort();
    draining?.removeEventListener('abort', wait);
  };
}

/**
 * Invalidates the periods that were not read although the next period was, so that they stay due. Otherwise the edge would
 * move on, they would fall out of the lookback, and changes in them would never arrive. If the next period was not read
 * either, the lookback reaches this one from there, and invalidating it would move each further run further back. Only past
 * periods are invalidated, because the current one is due anyway. The first instant of a period stays covered: it may be
 * the start of all coverage, where the plan begins.
 */
async function makeDueAgain(
  unread: readonly ScopedInterval[],
  read: readonly ScopedInterval[],
  { job, period, dependencies }: RunContext,
): Promise<void> {
  const now = isoInstant(dependencies.clock.now());
  // The plan of a requested period leaves out what it has covered.
  const past = period === undefined ? unread.filter(({ endAt }) => endAt <= now) : [];
  const ends = new Set(past.map(({ endAt }) => endAt));
  const next = read.filter(({ beginAt }) => ends.has(beginAt));
  const readNext = new Set(next.flatMap(({ scopes, beginAt }) => scopes.map((scope) => `${beginAt} ${scope}`)));
  if (readNext.size === 0) return;
  await dependencies.engine.write(async (tx) => {
    for (const { scopes, beginAt, endAt } of past) {
      const due = scopes.filter((scope) => readNext.has(`${endAt} ${scope}`));
      await invalidate(tx, { scopes: due, beginAt: isoInstant(Date.parse(beginAt) + 1), endAt }, { job });
    }
  });
}
