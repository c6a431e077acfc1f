// Which slices of route plans a run reads: a search for each UTC day in reach, and the plans outside of it that
// are still open, by id. The cost follows what is open: settled plans are only met in the searches.
import { coverageOf } from '../../warehouse/coverage.ts';
import { lastRead, openPlansOutside } from '../../warehouse/route-plan-facts.ts';
import type { Workload } from '../job.ts';
import type { PlanContext, Slice } from './pull-job.ts';
import { canBeAsked } from './unlisted.ts';
import { cutSpan, halves, intervalOf, joined, type Span, spansToRead } from './windows.ts';

const DAY_MS = 86_400_000;
const LEAST_SPAN_MS = 60 * 60_000;
/** Plans of one slice that are asked for by id. */
const WATCHED = 50;

/** How long a plan that was not found is still asked for: it may return. */
const MISSED_MS = 7 * DAY_MS;

/** Coverage of all plans by their start. */
export const PLANS_SCOPE = 'plans';
/** When the plans of a whole day were last read: whether a plan has been met after it settled. */
export const dayScope = (begin: number): string =>
  `day ${intervalOf({ begin, end: begin }).beginAt.slice(0, 10)}`;

export interface RoutePlanOptions {
  since: number;
  lookback: number;
  ahead: number;
  settle: number;
  longest: number;
}

/** Either the plans that start in a span, or plans by id. */
export type RoutePlanWork = { span: Span; lastReadAt: string | null } | { ids: number[] };

export async function planRoutePlans(
  context: PlanContext<RoutePlanOptions>,
): Promise<Slice<RoutePlanWork>[]> {
  const { options, now, period, warehouse, coverage } = context;
  const covered = (await coverageOf(warehouse, coverage)).get(PLANS_SCOPE) ?? [];
  const days = wholeDays(spansToRead({ now, ...options, period, covered }));
  const readAt = await lastRead(warehouse, coverage);
  const searches = days.map((span) => searchSlice(span, readAt.get(dayScope(span.begin)) ?? null));
  if (period !== undefined) return searches;
  return [...searches, ...(await watchSlices(context, days))];
}

/** A search a day in reach, and a call for each plan that may still change: those of every unsettled day. */
export function usualRoutePlanCalls(options: RoutePlanOptions, { vehicles, plansADay = 1 }: Workload) {
  const searches = Math.ceil((options.lookback + options.ahead) / DAY_MS) + 1;
  return searches + vehicles * plansADay * unsettledDays(options);
}

/** A plan is met by every run until it is settled. */
export const usualRoutePlanReadings = (options: RoutePlanOptions, { periodMs }: Workload): number =>
  (unsettledDays(options) * DAY_MS) / periodMs;

const unsettledDays = ({ settle }: RoutePlanOptions): number => Math.ceil(settle / DAY_MS) + 1;

/** Outward to whole days, so that a day is read whole or not at all. */
function wholeDays(spans: readonly Span[]): Span[] {
  const outward = spans.map(({ begin, end }) => ({
    begin: Math.floor(begin / DAY_MS) * DAY_MS,
    end: Math.ceil(end / DAY_MS) * DAY_MS,
  }));
  return joined(outward).flatMap((span) => cutSpan(span, DAY_MS));
}

/** The spans in reach need not touch; what lies between them is watched as well. */
async function watchSlices(context: PlanContext<RoutePlanOptions>, days: readonly Span[]) {
  const { warehouse, now, options } = context;
  const reach = joined(days).at(-1);
  if (reach === undefined) return [];
  const since = {
    turnedAt: intervalOf({ begin: now - options.settle, end: now }).beginAt,
    missingAt: intervalOf({ begin: now - MISSED_MS, end: now }).beginAt,
  };
  const ids = (await openPlansOutside(warehouse, intervalOf(reach), since)).filter(canBeAsked);
  const slices: Slice<RoutePlanWork>[] = [];
  for (let start = 0; start < ids.length; start += WATCHED)
    slices.push(watchSlice(ids.slice(start, start + WATCHED)));
  return slices;
}

function searchSlice(span: Span, lastReadAt: string | null): Slice<RoutePlanWork> {
  const { beginAt, endAt } = intervalOf(span);
  return { scope: `plans ${beginAt}/${endAt}`, work: { span, lastReadAt } };
}

const watchSlice = (ids: number[]): Slice<RoutePlanWork> => ({
  scope: `open plans ${ids[0]}-${ids.at(-1)} (${ids.length})`,
  work: { ids },
});

export const routePlanCalls = ({ work }: Slice<RoutePlanWork>): number =>
  'ids' in work ? work.ids.length : 1;

export const furtherRoutePlanCalls = ({ work }: Slice<RoutePlanWork>): string | undefined =>
  'ids' in work ? undefined : 'one for each plan of the search that may have changed';

export function splitRoutePlans({ work }: Slice<RoutePlanWork>): Slice<RoutePlanWork>[] | undefined {
  if ('span' in work)
    return halves(work.span, LEAST_SPAN_MS)?.map((span) => searchSlice(span, work.lastReadAt));
  if (work.ids.length < 2) return undefined;
  const middle = Math.ceil(work.ids.length / 2);
  return [watchSlice(work.ids.slice(0, middle)), watchSlice(work.ids.slice(middle))];
}

export const isWholeDay = ({ begin, end }: Span): boolean => begin % DAY_MS === 0 && end - begin === DAY_MS;
