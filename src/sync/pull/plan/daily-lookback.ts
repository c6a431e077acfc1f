// What arrives later than any run looks back: once a local day a further stretch behind the edge is withdrawn from
// coverage, and so is due like any hole. It is read by as many runs as that takes; what fails stays due.
import { type Interval, invalidate } from '../../../warehouse/coverage.ts';
import type { Engine } from '../../../warehouse/engine.ts';
import { readFact, writeFact } from '../../../warehouse/learned-facts.ts';
import type { PlanContext } from '../types.ts';
import { localDate } from './local-days.ts';
import { intervalOf, type Span, spanOf, without } from './windows.ts';

export interface DailyReach {
  lookback: number;
  daily_lookback: number;
}

type Context = PlanContext<DailyReach>;
/** What is covered, by scope. */
type Coverage = ReadonlyMap<string, readonly Interval[]>;

const factName = ({ coverage }: Context): string => `daily lookback of ${coverage}`;
const today = ({ now, timezone }: Context): string => localDate(now, timezone);

/** No run of this local day has withdrawn anything yet. */
async function isDue(context: Context): Promise<boolean> {
  const { options, period, warehouse } = context;
  if (period !== undefined || options.daily_lookback <= options.lookback) return false;
  return (await readFact<string>(warehouse, factName(context))) !== today(context);
}

/** What is covered, less what the first run of a day reads again. */
export async function coverageToday(context: Context, coverage: Coverage): Promise<Coverage> {
  if (!(await isDue(context))) return coverage;
  const left = (covered: readonly Interval[]): Interval[] => {
    const gone = stretchOf(covered, context.options);
    return covered.map(spanOf).flatMap((span) => without(span, [gone]).map(intervalOf));
  };
  return new Map([...coverage].map(([scope, covered]) => [scope, left(covered)]));
}

/** Writes down what `coverageToday` leaves out, with the day, together. */
export async function withdrawOnceADay(
  context: Context,
  coverage: () => Promise<Coverage>,
  engine: Engine,
): Promise<void> {
  if (!(await isDue(context))) return;
  const stretches = Map.groupBy(await coverage(), ([, covered]) =>
    JSON.stringify(intervalOf(stretchOf(covered, context.options))),
  );
  await engine.write(async (tx) => {
    for (const [stretch, group] of stretches) {
      const { beginAt, endAt }: Interval = JSON.parse(stretch);
      const scopes = group.map(([scope]) => scope);
      if (beginAt < endAt) await invalidate(tx, { scopes, beginAt, endAt }, { job: context.coverage });
    }
    await writeFact(tx, factName(context), today(context), context.now);
  });
}

/** Behind the last reading. The first and the last instant stay: they tell where coverage begins and what it has reached. */
function stretchOf(covered: readonly Interval[], { lookback, daily_lookback }: DailyReach): Span {
  const spans = covered.map(spanOf);
  const first = Math.min(...spans.map(({ begin }) => begin));
  const last = Math.max(...spans.map(({ end }) => end));
  return { begin: Math.max(first + 1, last - daily_lookback), end: last - Math.max(1, lookback) };
}
