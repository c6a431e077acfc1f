// One run of verification: reads a random sample of covered slices again, compares them with the warehouse and stores what
// it found. The slices of all pulls take turns, so that every table is verified. A slice that needs more than its share of
// the calls is cut. Its other parts, and one that cannot be cut, wait until all slices had their turn, and may then use all
// calls that are left. A difference is repaired by storing what was read.
import { asRoadbookError, Fatal, type RoadbookError } from '../../core/errors.ts';
import { addCounts } from '../../core/glossary.ts';
import { PRIORITY } from '../../core/rate/limiter.ts';
import { rereadMs } from '../../core/reach-limits.ts';
import { coverageOf, EVER, UNTIL_READ } from '../../warehouse/control/coverage.ts';
import { openIds } from '../../warehouse/queries/day-status.ts';
import type { Comparing, Comparison, NamedJob, Preview, PreviewContext, RunContext, RunOutcome } from '../job.ts';
import { isProbing, LEAST_CALLS_WITH_PROBE, PROBE_SHARE, probeService } from '../probe/probe.ts';
import { callContext } from '../pull/calls.ts';
import { type LocalDay, localDays } from '../pull/plan/local-days.ts';
import { TOO_MANY } from '../pull/plan/slice-scale.ts';
import { intervalOf, spanOf } from '../pull/plan/windows.ts';
import { stoppedEarly } from '../run.ts';
import type { Slice } from '../slice.ts';
import { createFindings, type Findings } from './findings.ts';
import { isFinal, isInReach, type Known, shuffled } from './sample.ts';

export interface VerifyOptions {
  /** Slices to compare. */
  sample: number;
  /** How far back days are chosen, ms. */
  days: number;
  max_calls: number;
  repair: boolean;
  /** Whether the service is asked first if it still behaves as before. */
  probe: boolean;
  /** Only the jobs that fill one of these tables; empty for all. */
  tables: readonly string[];
}

/** Calls that every slice may make, so that a slice with a call for each event category fits. */
const LEAST_CALLS = 50;

/** Fatal failures after which the slices of other pulls may be compared. After any other one, such as a rejected login, none. */
const OF_ONE_PULL = ['forbidden', 'unexpected'];

const STOPPED = 'What was compared is stored; the next run compares another sample.';

/** A requested period, so that no coverage is written. */
const NO_COVERAGE_PERIOD = { beginAt: EVER, endAt: UNTIL_READ, resumable: false };

/** A pull whose slices are compared. */
interface Verified extends Known {
  job: NamedJob;
  options: Record<string, unknown>;
}

/** A slice of the sample. */
interface Sampled {
  verified: Verified;
  slice: Slice;
  /** A part of a cut slice, of which another part was chosen at random. A sample may do without it. */
  isRest: boolean;
}

export async function executeVerify(context: RunContext): Promise<RunOutcome> {
  const { counts, draining, signal, log } = context;
  const { sample, max_calls, repair } = verifyOptions(context);
  const failures: RoadbookError[] = [];
  const found = createFindings(context, repair);
  const open = await openIds(context.dependencies.engine);
  /** Pulls of which no further slice is read. */
  const failedPulls = new Set<Verified>();
  let [sampled, compared] = [0, 0];
  /** No further slice is read. */
  let isOver = false;
  const probe = await probeWithin(context);
  let callsLeft = max_calls - probe.calls;

  /** Returns the parts that were not compared for lack of calls. */
  async function compare(one: Sampled, calls: number): Promise<Sampled[]> {
    const { verified, slice } = one;
    if (isOver || failedPulls.has(verified)) return [];
    if (signal.aborted || draining?.aborted === true) {
      stop(stoppedEarly(STOPPED));
      return [];
    }
    const left = { count: Math.min(callsLeft, calls) };
    // Each part would need as many calls, so cutting gains nothing.
    if (left.count < (slice.calls ?? 1)) return [one];
    const given = left.count;
    const result = await compareSliceOrPart(slice, verified, context, left, found, open);
    callsLeft -= given - left.count;
    if (result.end === 'compared') compared++;
    if (result.end === 'stopped') stop(stoppedEarly(STOPPED));
    if (result.end === 'failed') {
      const { failure } = result;
      log.warn({ scope: slice.scope, err: failure }, 'slice not compared');
      if (failure instanceof Fatal && !OF_ONE_PULL.includes(failure.code)) stop(failure);
      else failures.push(failure);
      if (failure instanceof Fatal) failedPulls.add(verified);
    }
    const tooLarge = result.end === 'too large' ? [{ ...one, slice: result.part }] : [];
    return [...tooLarge, ...result.rest.map((part) => ({ verified, slice: part, isRest: true }))];
  }

  function stop(failure: RoadbookError): void {
    failures.push(failure);
    isOver = true;
  }

  const waiting: Sampled[] = [];
  /** The sample has room for every slice, so no part may be left out. */
  let isAllAsked = true;
  for await (const one of inTurns(await verifiedJobs(context), context)) {
    isAllAsked = sampled < sample;
    if (!isAllAsked || isOver) break;
    if (failedPulls.has(one.verified)) continue;
    sampled++;
    waiting.push(...(await compare(one, Math.max(LEAST_CALLS, Math.ceil(callsLeft / (sample - sampled + 1))))));
  }
  // First those that the sample cannot do without.
  waiting.sort((a, b) => Number(a.isRest) - Number(b.isRest));
  const notCompared: Sampled[] = [];
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    const { slice } = one;
    // What comes back whole needs more calls than are left. Parts of it wait in their turn.
    for (const part of await compare(one, callsLeft)) (part.slice === slice ? notCompared : waiting).push(part);
  }
  counts.slices += compared;
  // At the first start nothing was read that could be compared.
  const level = sampled === 0 ? 'debug' : 'info';
  log[level]({ compared, not_compared: notCompared.length, calls_left: callsLeft }, 'verification finished');
  // A sample may leave out the other parts of a slice; a verification of all slices may not.
  const missed = notCompared.filter(({ isRest }) => !isRest || isAllAsked);
  if (missed[0] !== undefined) {
    const slices = `${missed.length} of ${missed.length + compared} slices, such as ${missed[0].slice.scope}`;
    failures.push(tooFewCalls(slices, max_calls));
  }
  return { failures: [...probe.failures, ...failures], worked: compared > 0 };
}

/** Asks the service whether it still behaves as before, unless there are too few calls for it. */
async function probeWithin(context: RunContext): Promise<{ calls: number; failures: RoadbookError[] }> {
  const { probe, max_calls } = verifyOptions(context);
  const most = Math.floor(max_calls * PROBE_SHARE);
  const failures: RoadbookError[] = [];
  if (!isProbing({ probe, max_calls })) {
    if (probe) context.log.warn({ max_calls, needed: LEAST_CALLS_WITH_PROBE }, 'probe left out: max_calls is too low');
    return { calls: 0, failures };
  }
  const callsLeft = { count: most };
  const calling = callContext({ ...context, callsLeft }, context.signal, PRIORITY.history);
  try {
    const isEnabled = (job: string): boolean => context.jobs?.find(job)?.enabled !== false;
    const { answers } = await probeService(context.dependencies, { isSeen: false, calling, isEnabled });
    for (const { question, answer, was } of answers) {
      if (was !== undefined)
        context.log.warn({ event: 'service_changed', question, was, answer }, 'service has changed');
    }
  } catch (thrown) {
    failures.push(context.signal.aborted ? stoppedEarly(STOPPED) : asRoadbookError(thrown));
  }
  return { calls: most - callsLeft.count, failures };
}

/** The slices of all pulls, one of each in turn. */
async function* inTurns(jobs: readonly Verified[], context: PreviewContext): AsyncGenerator<Sampled> {
  const queues = jobs.map((verified) => ({ verified, slices: randomSlices(verified, context) }));
  while (queues.length > 0) {
    for (const queue of [...queues]) {
      const { value, done } = await queue.slices.next();
      if (done === true) queues.splice(queues.indexOf(queue), 1);
      else yield { verified: queue.verified, slice: value, isRest: false };
    }
  }
}

/** A random slice of every day in random order, then the others. The slices of a listing are the same on every day. */
async function* randomSlices(verified: Verified, context: PreviewContext): AsyncGenerator<Slice> {
  const { dependencies } = context;
  const { job, options, coverage } = verified;
  const isDayFinal = (day: LocalDay): boolean =>
    coverage.keys().some((scope) => isFinal([{ scopes: [scope], ...intervalOf(day) }], verified));
  const seen = new Set<string>();
  const others: Slice[] = [];
  for (const day of shuffled(daysOf(verified, context), Math.random, isDayFinal)) {
    const asked = { ...intervalOf(day), resumable: false };
    const planned = (await job.slices?.({ job: job.name, options, period: asked, dependencies })) ?? [];
    const [first, ...rest] = shuffled(
      planned.filter(({ scope, covers = [] }) => !seen.has(scope) && isInReach(covers, coverage)),
      Math.random,
    );
    for (const { scope } of planned) seen.add(scope);
    others.push(...rest);
    if (first !== undefined) yield first;
  }
  yield* shuffled(others, Math.random);
}

/** The local days in reach of which a part is covered. */
function daysOf({ coverage }: Verified, context: PreviewContext): LocalDay[] {
  const { clock, timezone } = context.dependencies;
  const now = clock.now();
  const covered = [...coverage.values()].flat().map(spanOf);
  return localDays([{ begin: now - verifyOptions(context).days, end: now }], timezone).filter((day) =>
    covered.some((span) => span.begin < day.end && span.end > day.begin),
  );
}

type SliceEnd = { rest: Slice[] } & (
  | { end: 'compared' | 'stopped' }
  | { end: 'too large'; part: Slice }
  | { end: 'failed'; failure: RoadbookError }
);

/** Compares a slice, or a random part of it if it is too large: then `rest` has its other parts. */
async function compareSliceOrPart(
  slice: Slice,
  verified: Verified,
  context: RunContext,
  callsLeft: { count: number },
  found: Findings,
  open: Comparing['open'],
): Promise<SliceEnd> {
  const { job, options } = verified;
  const { repair } = verifyOptions(context);
  const rest: Slice[] = [];
  for (let part = slice; ; ) {
    let result: readonly Comparison[] = [];
    const outcome = await job.workSlice?.(part, {
      ...context,
      job: job.name,
      options,
      period: NO_COVERAGE_PERIOD,
      callsLeft,
      comparing: {
        repair,
        open,
        take: (compared) => {
          result = compared;
        },
      },
    });
    if (outcome === undefined || outcome.end === 'stopped') return { end: 'stopped', rest };
    addCounts(context.counts, { ...outcome.counts, slices: 0 });
    if (outcome.end === 'failed')
      return outcome.failure.code === TOO_MANY ? { end: 'too large', part, rest } : { ...outcome, rest };
    if (outcome.end === 'loaded') {
      await found.add(part, result, isFinal(part.covers ?? [], verified));
      return { end: 'compared', rest };
    }
    const [smaller, ...others] = shuffled(outcome.slices, Math.random);
    if (smaller === undefined) return { end: 'too large', part, rest };
    rest.push(...others);
    part = smaller;
  }
}

/** The enabled pulls that have read anything. */
async function verifiedJobs(context: PreviewContext): Promise<Verified[]> {
  const { jobs, dependencies } = context;
  const { tables } = verifyOptions(context);
  const found: Verified[] = [];
  for (const name of jobs?.names ?? []) {
    const { job, options = {}, enabled } = jobs?.find(name) ?? {};
    if (job?.slices === undefined || enabled === false) continue;
    if (tables.length > 0 && !job.tables.some(({ name: table }) => tables.includes(table))) continue;
    const coverage = await coverageOf(dependencies.engine, name);
    if (coverage.size === 0) continue;
    found.push({ job, coverage, ...reachOf(options, dependencies.clock.now()) });
  }
  return shuffled(found, Math.random);
}

/** How far back the job reads again, and its options with everything unsettled, so that settled records are read too. */
const reachOf = (options: Record<string, unknown>, now: number) => ({
  lookbackMs: rereadMs(options) ?? 0,
  options: 'settle' in options ? { ...options, settle: now } : options,
});

const verifyOptions = ({ options }: Pick<PreviewContext, 'options'>) => options as unknown as VerifyOptions;

const tooFewCalls = (slices: string, calls: number): Fatal =>
  new Fatal(`${calls} calls were too few to compare ${slices}`, {
    code: 'too_few_calls',
    hint: 'Raise jobs.verify-warehouse.max_calls.',
  });

/** The jobs whose slices a run may read. */
export async function previewVerify(context: PreviewContext): Promise<Preview[]> {
  const { sample, max_calls } = verifyOptions(context);
  return (await verifiedJobs(context)).map((verified) => ({
    what: verified.job.name,
    detail: { days: daysOf(verified, context).length, slices_of_all_jobs: sample },
    further: `at most ${max_calls} for all jobs together`,
  }));
}
