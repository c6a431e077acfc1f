// Reads data that arrives later than the usual lookback: once per local day, a longer stretch behind the edge is removed
// from coverage, so that it is due like any hole. As many runs as necessary read it; a part that fails stays due.
import { type Interval, invalidate } from '../../../warehouse/control/coverage.ts';
import { readFact, writeFact } from '../../../warehouse/control/learned-facts.ts';
import type { Transaction } from '../../../warehouse/engine.ts';
import type { Plan, PlanContext } from '../types.ts';
import { localDate } from './local-days.ts';
import { intervalOf, type Span, spanOf, without } from './windows.ts';

export interface DailyReach {
  lookback: number;
  daily_lookback: number;
}

type Context = PlanContext<DailyReach>;
/** Covered intervals by scope. */
type Coverage = ReadonlyMap<string, readonly Interval[]>;

const factName = ({ coverageName }: Context): string => `daily lookback of ${coverageName}`;
const today = ({ now, timezone }: Context): string => localDate(now, timezone);

/** No run of this local day has invalidated the stretch yet. */
async function isDue(context: Context): Promise<boolean> {
  const { options, period, warehouse } = context;
  if (period !== undefined || options.daily_lookback <= options.lookback) return false;
  return (await readFact<string>(warehouse, factName(context))) !== today(context);
}

export interface CoverageToday {
  /** The coverage without the stretch that the first run of a day reads again. */
  coverage: Coverage;
  /** Stores the invalidation together with the day; absent if nothing is invalidated. */
  invalidate?: Plan<unknown>['invalidate'];
}

export async function coverageToday(context: Context, coverage: Coverage): Promise<CoverageToday> {
  if (!(await isDue(context))) return { coverage };
  const left = (covered: readonly Interval[]): Interval[] => {
    const gone = stretchOf(covered, context.options);
    return covered.map(spanOf).flatMap((span) => without(span, [gone]).map(intervalOf));
  };
  return {
    coverage: new Map([...coverage].map(([scope, covered]) => [scope, left(covered)])),
    invalidate: (tx) => invalidateToday(tx, context, coverage),
  };
}

async function invalidateToday(tx: Transaction, context: Context, coverage: Coverage): Promise<void> {
  const stretches = Map.groupBy(coverage, ([, covered]) =>
    JSON.stringify(intervalOf(stretchOf(covered, context.options))),
  );
  for (const [stretch, group] of stretches) {
    const { beginAt, endAt }: Interval = JSON.parse(stretch);
    const scopes = group.map(([scope]) => scope);
    if (beginAt < endAt) await invalidate(tx, { scopes, beginAt, endAt }, { job: context.coverageName });
  }
  await writeFact(tx, factName(context), today(context), context.now);
}

/** The stretch behind the last reading. The first and the last instant stay covered, because they mark the range so far. */
function stretchOf(covered: readonly Interval[], { lookback, daily_lookback }: DailyReach): Span {
  const spans = covered.map(spanOf);
  const first = Math.min(...spans.map(({ begin }) => begin));
  const last = Math.max(...spans.map(({ end }) => end));
  return { begin: Math.max(first + 1, last - daily_lookback), end: last - Math.max(1, lookback) };
}
