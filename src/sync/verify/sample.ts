// Which slices a verification compares, in random order: the pulls take turns, so that every table is verified, and final
// days come first more often.
import { rereadMs } from '../../core/reach-limits.ts';
import { type LocalDay, localDays } from '../../core/time/local-days.ts';
import { coverageOf, type Interval, type ScopedInterval } from '../../warehouse/control/coverage.ts';
import type { Job, NamedJob, PreviewContext } from '../job.ts';
import { intervalOf, spanOf } from '../pull/plan/windows.ts';
import type { Slice } from '../slice.ts';

/** Covered intervals by scope. */
type Coverage = ReadonlyMap<string, readonly Interval[]>;

/** A final day is this many times as likely to be read as another one. */
const WEIGHT_OF_FINAL = 4;

/** What is known of the days of a job. */
interface Known {
  coverage: Coverage;
  /** How far behind its coverage a run reads again, ms. */
  lookbackMs: number;
}

/** A pull whose slices are compared. */
export interface VerifiedPull extends Known {
  job: NamedJob & Required<Pick<Job, 'slices' | 'workSlice'>>;
  options: Record<string, unknown>;
}

/** A slice of the sample. */
export interface Sampled {
  pull: VerifiedPull;
  slice: Slice;
}

const isPull = (job: NamedJob): job is VerifiedPull['job'] => job.slices !== undefined && job.workSlice !== undefined;

/** The enabled pulls that have read anything; only those that fill one of the tables, unless it is empty. */
export async function verifiedPulls({ jobs, dependencies }: PreviewContext, tables: readonly string[]) {
  const found: VerifiedPull[] = [];
  for (const name of jobs?.names ?? []) {
    const { job, options = {}, enabled } = jobs?.find(name) ?? {};
    if (job === undefined || !isPull(job) || enabled === false) continue;
    if (tables.length > 0 && !job.tables.some(({ name: table }) => tables.includes(table))) continue;
    const coverage = await coverageOf(dependencies.engine, name);
    if (coverage.size === 0) continue;
    // Nothing is settled, so that settled records are read too.
    const unsettled = 'settle' in options ? { settle: dependencies.clock.now() } : {};
    found.push({ job, coverage, lookbackMs: rereadMs(options) ?? 0, options: { ...options, ...unsettled } });
  }
  return shuffled(found, Math.random);
}

/** The slices of all pulls, one of each in turn. */
export async function* slicesInTurns(pulls: readonly VerifiedPull[], context: PreviewContext, reachMs: number) {
  const queues = pulls.map((pull) => ({ pull, slices: randomSlices(pull, context, reachMs) }));
  while (queues.length > 0) {
    for (const queue of [...queues]) {
      const { value, done } = await queue.slices.next();
      if (done === true) queues.splice(queues.indexOf(queue), 1);
      else yield { pull: queue.pull, slice: value } satisfies Sampled;
    }
  }
}

/** A random slice of every day in random order, then the others. The slices of a listing are the same on every day. */
async function* randomSlices(pull: VerifiedPull, context: PreviewContext, reachMs: number): AsyncGenerator<Slice> {
  const { dependencies } = context;
  const { job, options, coverage } = pull;
  const isDayFinal = (day: LocalDay): boolean =>
    coverage.keys().some((scope) => isFinal([{ scopes: [scope], ...intervalOf(day) }], pull));
  const seen = new Set<string>();
  const others: Slice[] = [];
  for (const day of shuffled(coveredDays(pull, context, reachMs), Math.random, isDayFinal)) {
    const period = { ...intervalOf(day), resumable: false };
    const planned = await job.slices({ job: job.name, options, period, dependencies });
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
export function coveredDays({ coverage }: Known, { dependencies }: PreviewContext, reachMs: number): LocalDay[] {
  const now = dependencies.clock.now();
  const covered = [...coverage.values()].flat().map(spanOf);
  return localDays([{ begin: now - reachMs, end: now }], dependencies.timezone).filter((day) =>
    covered.some((span) => span.begin < day.end && span.end > day.begin),
  );
}

/**
 * True if no run reads the periods again by itself: each lies in the coverage of all its scopes, further behind the end of
 * that coverage than a run looks back. A period that is not covered is due, so it is not final. The rule is that of
 * bi_day_status for the scopes of a slice, except for open records: they are not compared, so they do not matter here.
 */
export function isFinal(covers: readonly ScopedInterval[], { coverage, lookbackMs }: Known): boolean {
  const isBehind = ({ beginAt, endAt }: Interval, period: Interval): boolean =>
    beginAt <= period.beginAt && Date.parse(endAt) - lookbackMs >= Date.parse(period.endAt);
  return (
    covers.length > 0 &&
    covers.every((period) =>
      period.scopes.every((scope) => (coverage.get(scope) ?? []).some((interval) => isBehind(interval, period))),
    )
  );
}

/**
 * False if a period begins before all coverage of its scopes: no run will ever read it, so its rows are not missing. One
 * scope is enough: a vehicle that was not read yet is due.
 */
export const isInReach = (covers: readonly ScopedInterval[], coverage: Coverage): boolean =>
  covers.every(({ scopes, beginAt }) =>
    scopes.some((scope) => (coverage.get(scope) ?? []).some((interval) => interval.beginAt <= beginAt)),
  );

/** Weighted sampling without replacement: an item of weight w gets the greatest of w random numbers. */
export function shuffled<Item>(items: readonly Item[], random: () => number, isPreferred?: (item: Item) => boolean) {
  return items
    .map((item) => ({ item, rank: random() ** (1 / (isPreferred?.(item) === true ? WEIGHT_OF_FINAL : 1)) }))
    .sort((a, b) => b.rank - a.rank)
    .map(({ item }) => item);
}
