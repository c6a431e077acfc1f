// One run of verification: reads a random sample of covered slices again, compares them with the warehouse and stores what
// it found. A slice that needs more than its share of the calls is cut. Its other parts, and one that cannot be cut, wait
// until all slices had their turn, and may then use all calls that are left. A difference is repaired by storing what was
// read.
import { Fatal, isPassing, type RoadbookError } from '../../core/errors.ts';
import { addCounts } from '../../core/glossary.ts';
import { EVER, UNTIL_READ } from '../../warehouse/control/coverage.ts';
import { openIds } from '../../warehouse/queries/day-status.ts';
import type { Comparison, Preview, PreviewContext, RunContext, RunOutcome } from '../job.ts';
import { TOO_MANY } from '../pull/plan/slice-limits.ts';
import { stoppedEarly } from '../run.ts';
import type { Slice } from '../slice.ts';
import { createFindings } from './findings.ts';
import { probeFirst } from './nightly-probe.ts';
import {
  coveredDays,
  isFinal,
  type Sampled,
  shuffled,
  slicesInTurns,
  type VerifiedPull,
  verifiedPulls,
} from './sample.ts';

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

interface Waiting extends Sampled {
  /** A part of a cut slice, of which another part was chosen at random. A sample may do without it. */
  isRest: boolean;
}

export async function executeVerify(context: RunContext): Promise<RunOutcome> {
  const { counts, draining, signal, log, dependencies } = context;
  const options = verifyOptions(context);
  const { sample, max_calls, repair } = options;
  const found = createFindings(context, repair);
  const open = await openIds(dependencies.engine);
  const callsLeft = { count: max_calls };
  const failures = await probeFirst(context, options, callsLeft);
  /** Pulls of which no further slice is read. */
  const failedPulls = new Set<VerifiedPull>();
  /** No further slice is read. */
  let isOver = false;

  /** Compares a slice, or a random part of it if it is too large. Returns what was not compared for lack of calls. */
  async function compare(one: Waiting, calls: number): Promise<Waiting[]> {
    const { pull } = one;
    if (isOver || failedPulls.has(pull)) return [];
    if (signal.aborted || draining?.aborted === true) {
      stop(stoppedEarly(STOPPED));
      return [];
    }
    const left = { count: Math.min(callsLeft.count, calls) };
    // Each part would need as many calls, so cutting gains nothing.
    if (left.count < (one.slice.calls ?? 1)) return [one];
    const rest: Waiting[] = [];
    for (let part = one.slice; ; ) {
      const { outcome, results } = await read(pull, part, left);
      // A slice that failed may have stored parts, with repairs that count.
      if (results.length > 0)
        await found.add(part, results, {
          isFinal: isFinal(part.covers ?? [], pull),
          isWhole: outcome.end === 'loaded',
        });
      switch (outcome.end) {
        case 'loaded':
          return rest;
        case 'stopped':
          stop(stoppedEarly(STOPPED));
          return rest;
        case 'failed':
          if (outcome.failure.code === TOO_MANY) return [{ ...one, slice: part }, ...rest];
          // As in a pull: the end of the run names a failure that may pass.
          log[isPassing(outcome.failure) ? 'debug' : 'warn'](
            { scope: part.scope, err: outcome.failure },
            'slice not compared',
          );
          fail(pull, outcome.failure);
          return rest;
        case 'cut': {
          const [smaller, ...others] = shuffled(outcome.slices, Math.random);
          if (smaller === undefined) return [{ ...one, slice: part }, ...rest];
          rest.push(...others.map((slice) => ({ pull, slice, isRest: true })));
          part = smaller;
        }
      }
    }
  }

  async function read({ job, options: ofPull }: VerifiedPull, slice: Slice, left: { count: number }) {
    const given = left.count;
    const results: Comparison[] = [];
    const take = (compared: readonly Comparison[]): void => void results.push(...compared);
    const outcome = await job.workSlice(slice, {
      ...context,
      job: job.name,
      options: ofPull,
      period: NO_COVERAGE_PERIOD,
      callsLeft: left,
      comparing: { repair, open, take },
    });
    callsLeft.count -= given - left.count;
    addCounts(counts, { ...outcome.counts, slices: outcome.end === 'loaded' ? 1 : 0 });
    return { outcome, results };
  }

  function fail(pull: VerifiedPull, failure: RoadbookError): void {
    if (failure instanceof Fatal && !OF_ONE_PULL.includes(failure.code)) stop(failure);
    else failures.push(failure);
    if (failure instanceof Fatal) failedPulls.add(pull);
  }

  function stop(failure: RoadbookError): void {
    failures.push(failure);
    isOver = true;
  }

  const waiting: Waiting[] = [];
  let sampled = 0;
  /** The sample has room for every slice, so no part may be left out. */
  let isAllAsked = true;
  for await (const one of slicesInTurns(await verifiedPulls(context, options.tables), context, options.days)) {
    isAllAsked = sampled < sample;
    if (!isAllAsked || isOver) break;
    if (failedPulls.has(one.pull)) continue;
    sampled++;
    const share = Math.max(LEAST_CALLS, Math.ceil(callsLeft.count / (sample - sampled + 1)));
    waiting.push(...(await compare({ ...one, isRest: false }, share)));
  }
  // First those that the sample cannot do without.
  waiting.sort((a, b) => Number(a.isRest) - Number(b.isRest));
  const notCompared: Waiting[] = [];
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    const { slice } = one;
    // What comes back whole needs more calls than are left. Parts of it wait in their turn.
    for (const part of await compare(one, callsLeft.count)) (part.slice === slice ? notCompared : waiting).push(part);
  }
  // Nothing was read yet, at the first start, or nothing can be read: the end of the run says why.
  const level = counts.slices === 0 ? 'debug' : 'info';
  const ended = { compared: counts.slices, not_compared: notCompared.length, calls_left: callsLeft.count };
  log[level](ended, 'verification finished');
  // A sample may leave out the other parts of a slice; a verification of all slices may not.
  const missed = notCompared.filter(({ isRest }) => !isRest || isAllAsked);
  if (missed[0] !== undefined) {
    const slices = `${missed.length} of ${missed.length + counts.slices} slices, such as ${missed[0].slice.scope}`;
    failures.push(tooFewCalls(slices, max_calls));
  }
  return { failures, worked: counts.slices > 0 };
}

const verifyOptions = ({ options }: Pick<PreviewContext, 'options'>) => options as unknown as VerifyOptions;

const tooFewCalls = (slices: string, calls: number): Fatal =>
  new Fatal(`${calls} calls were too few to compare ${slices}`, {
    code: 'too_few_calls',
    hint: 'Raise jobs.verify-warehouse.max_calls.',
  });

/** The jobs whose slices a run may read. */
export async function previewVerify(context: PreviewContext): Promise<Preview[]> {
  const { sample, days, max_calls, tables } = verifyOptions(context);
  return (await verifiedPulls(context, tables)).map((pull) => ({
    what: pull.job.name,
    detail: { days: coveredDays(pull, context, days).length, slices_of_all_jobs: sample },
    further: `at most ${max_calls} for all jobs together`,
  }));
}
