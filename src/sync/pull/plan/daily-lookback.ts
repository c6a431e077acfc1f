// Reads data that arrives later than the usual lookback: once per local day, a longer stretch behind the edge is due again.
// It stays covered while it is read, so that its days stay final. A part that could not be read is removed from coverage.

import { localDate, periodOf } from '../../../core/time/local-days.ts';
import { type Interval, invalidate } from '../../../warehouse/control/coverage.ts';
import { readFact, writeFact } from '../../../warehouse/control/learned-facts.ts';
import type { Plan, PlanContext } from '../types.ts';
import { intervalOf, type Span, spanOf, without, withoutEnds } from './windows.ts';

interface DailyReach {
  since: number;
  lookback: number;
  daily_lookback: number;
}

/** Covered intervals by scope. */
type Coverage = ReadonlyMap<string, readonly Interval[]>;

/** The coverage without the stretch that the first run of a local day reads again. `finish` stores that it did. */
export async function coverageToday(
  { options, period, warehouse, coverageName, now, timezone }: PlanContext<DailyReach>,
  coverage: Coverage,
): Promise<{ coverage: Coverage; finish?: Plan<unknown>['finish'] }> {
  if (period !== undefined || options.daily_lookback <= options.lookback) return { coverage };
  const factName = `daily lookback of ${coverageName}`;
  const today = localDate(now, timezone);
  const done = await readFact<string>(warehouse, factName);
  if (done === today) return { coverage };
  // Not from the edge alone: a run that was killed may have moved it on without reading the stretch.
  const nextAt = done === undefined ? now : Math.max(now - options.since, Date.parse(periodOf(done, timezone).to));
  const stretches = new Map([...coverage].map(([scope, covered]) => [scope, stretchOf(covered, nextAt, options)]));
  const left = ([scope, covered]: [string, readonly Interval[]]): [string, Interval[]] => {
    const gone = [stretches.get(scope)].filter((span) => span !== undefined);
    return [scope, covered.map(spanOf).flatMap((span) => without(span, gone).map(intervalOf))];
  };
  return {
    coverage: new Map([...coverage].map(left)),
    async finish(tx, unread) {
      for (const each of unread) {
        const { begin, end } = spanOf(each);
        const inStretch = Map.groupBy(each.scopes, (scope) => {
          const stretch = stretches.get(scope) ?? { begin: end, end };
          return JSON.stringify(intervalOf({ begin: Math.max(begin, stretch.begin), end: Math.min(end, stretch.end) }));
        });
        for (const [part, scopes] of inStretch) {
          const { beginAt, endAt }: Interval = JSON.parse(part);
          if (beginAt < endAt) await invalidate(tx, { scopes, beginAt, endAt }, { job: coverageName });
        }
      }
      await writeFact(tx, factName, today, now);
    },
  };
}

/** The stretch behind the last reading, or behind the first instant after the last day whose stretch was read. */
function stretchOf(covered: readonly Interval[], nextAt: number, { lookback, daily_lookback }: DailyReach): Span {
  const spans = covered.map(spanOf);
  const first = Math.min(...spans.map(({ begin }) => begin));
  const last = Math.max(...spans.map(({ end }) => end));
  const { begin, end } = withoutEnds({ begin: first, end: last });
  return { begin: Math.max(begin, Math.min(last, nextAt) - daily_lookback), end: Math.min(end, last - lookback) };
}
