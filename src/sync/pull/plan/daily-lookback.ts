// Reads data that arrives later than the usual lookback: once per local day, a longer stretch behind the edge is removed
// from coverage, so that it is due like any hole. As many runs as necessary read it; a part that fails stays due.
import { type Interval, invalidate } from '../../../warehouse/control/coverage.ts';
import { readFact, writeFact } from '../../../warehouse/control/learned-facts.ts';
import type { Plan, PlanContext } from '../types.ts';
import { localDate } from './local-days.ts';
import { intervalOf, type Span, spanOf, without } from './windows.ts';

interface DailyReach {
  lookback: number;
  daily_lookback: number;
}

/** Covered intervals by scope. */
type Coverage = ReadonlyMap<string, readonly Interval[]>;

/**
 * The coverage without the stretch that the first run of a local day reads again. `invalidate` stores the same together
 * with the day.
 */
export async function coverageToday(
  { options, period, warehouse, coverageName, now, timezone }: PlanContext<DailyReach>,
  coverage: Coverage,
): Promise<{ coverage: Coverage; invalidate?: Plan<unknown>['invalidate'] }> {
  if (period !== undefined || options.daily_lookback <= options.lookback) return { coverage };
  const factName = `daily lookback of ${coverageName}`;
  const today = localDate(now, timezone);
  if ((await readFact<string>(warehouse, factName)) === today) return { coverage };
  const left = (covered: readonly Interval[]): Interval[] => {
    const gone = stretchOf(covered, options);
    return covered.map(spanOf).flatMap((span) => without(span, [gone]).map(intervalOf));
  };
  return {
    coverage: new Map([...coverage].map(([scope, covered]) => [scope, left(covered)])),
    async invalidate(tx) {
      const stretches = Map.groupBy(coverage, ([, covered]) => JSON.stringify(intervalOf(stretchOf(covered, options))));
      for (const [stretch, group] of stretches) {
        const { beginAt, endAt }: Interval = JSON.parse(stretch);
        const scopes = group.map(([scope]) => scope);
        if (beginAt < endAt) await invalidate(tx, { scopes, beginAt, endAt }, { job: coverageName });
      }
      await writeFact(tx, factName, today, now);
    },
  };
}

/** The stretch behind the last reading. The first and the last instant stay covered, because they mark the range so far. */
function stretchOf(covered: readonly Interval[], { lookback, daily_lookback }: DailyReach): Span {
  const spans = covered.map(spanOf);
  const first = Math.min(...spans.map(({ begin }) => begin));
  const last = Math.max(...spans.map(({ end }) => end));
  return { begin: Math.max(first + 1, last - daily_lookback), end: last - Math.max(1, lookback) };
}
