// Plans the slices of a route-plan run: a search for each UTC day in reach (or for parts of a day, if full days were too
// large for the service), and a read by id of the open plans outside that reach. The cost depends on the open plans:
// settled plans only appear in the searches.

import { chunks, inTwo } from '../../../../core/chunks.ts';
import { DAY_MS } from '../../../../core/time/durations.ts';
import { coverageOf } from '../../../../warehouse/control/coverage.ts';
import {
  MISSED_MS,
  openPlansOutside,
  type PlanReading,
  planReadings,
} from '../../../../warehouse/queries/route-plan-facts.ts';
import type { Cost, Workload } from '../../../job.ts';
import type { Slice } from '../../../slice.ts';
import { TOO_MANY } from '../../plan/slice-limits.ts';
import { cutSpan, halves, intervalOf, joined, type Span, spansToRead } from '../../plan/windows.ts';
import { canBeAsked } from '../../records/record-id.ts';
import type { Plan, PlanContext } from '../../types.ts';

const LEAST_SPAN_MS = 60 * 60_000;
/** How many times a day can be halved. */
const MOST_HALVINGS = Math.floor(Math.log2(DAY_MS / LEAST_SPAN_MS));
/** Most plans of one slice that are read by id. */
const PLANS_PER_SLICE = 50;

/** Coverage of all plans, by their start. */
export const PLANS_SCOPE = 'plans';
/** Prefix of scopes that store when a day, or a part of it, was last read. They show if a plan was read after it settled. */
const READ_SCOPE = 'day ';

export function readScope(span: Span): string {
  const { beginAt, endAt } = intervalOf(span);
  const day = `${READ_SCOPE}${beginAt.slice(0, 10)}`;
  return isWholeDay(span) ? day : `${day} ${beginAt.slice(11, 16)}/${endAt.slice(11, 16)}`;
}

export interface RoutePlanOptions {
  since: number;
  lookback: number;
  ahead: number;
  settle: number;
  longest: number;
}

/** A search for the plans that start in a span. */
export interface PlanSearch {
  span: Span;
  /** How far the search extends beyond the span, ms, because the service may require that plans also end in its period. */
  beyond: number;
  /** Earlier readings of any part of the span. */
  readings: PlanReading[];
}

/** A search, or plans by id. */
export type RoutePlanWork = PlanSearch | { ids: number[] };

export async function planRoutePlans(context: PlanContext<RoutePlanOptions>): Promise<Plan<RoutePlanWork>> {
  const { options, now, period, warehouse, coverageName, scale } = context;
  const covered = (await coverageOf(warehouse, coverageName)).get(PLANS_SCOPE) ?? [];
  const days = wholeDays(spansToRead({ now, ...options, period, covered }));
  const readings = await planReadings(warehouse, coverageName, `${READ_SCOPE}%`);
  const slicesADay = 2 ** Math.min(MOST_HALVINGS, Math.ceil(-Math.log2(scale)));
  const searches = days
    .flatMap((day) => cutSpan(day, DAY_MS / slicesADay))
    .map((span) => searchSlice({ span, beyond: options.longest / slicesADay, readings }));
  const openPlans = period === undefined ? await openPlanSlices(context, days) : [];
  return { slices: [...searches, ...openPlans] };
}

/**
 * A search for each day in reach, and a call for each plan that may still change: all plans of unsettled days. Every run
 * reads a plan again until it is settled.
 */
export function routePlanCost(
  { lookback, ahead, settle }: RoutePlanOptions,
  { vehicles, periodMs, plansADay = 1 }: Workload,
): Cost {
  const searches = Math.ceil((lookback + ahead) / DAY_MS) + 1;
  const unsettledDays = Math.ceil(settle / DAY_MS) + 1;
  return {
    calls: searches + vehicles * plansADay * unsettledDays,
    readsPerRecord: (unsettledDays * DAY_MS) / periodMs,
  };
}

/** Rounds outward to full days, so that a day is read completely or not at all. */
function wholeDays(spans: readonly Span[]): Span[] {
  const outward = spans.map(({ begin, end }) => ({
    begin: Math.floor(begin / DAY_MS) * DAY_MS,
    end: Math.ceil(end / DAY_MS) * DAY_MS,
  }));
  return joined(outward).flatMap((span) => cutSpan(span, DAY_MS));
}

/** Slices of the open plans outside the last span in reach. The spans may have gaps; open plans in a gap are read too. */
async function openPlanSlices(context: PlanContext<RoutePlanOptions>, days: readonly Span[]) {
  const { warehouse, now, options } = context;
  const reach = joined(days).at(-1);
  if (reach === undefined) return [];
  const since = {
    turnedAt: intervalOf({ begin: now - options.settle, end: now }).beginAt,
    missingAt: intervalOf({ begin: now - MISSED_MS, end: now }).beginAt,
  };
  const ids = (await openPlansOutside(warehouse, intervalOf(reach), since)).filter(canBeAsked);
  return chunks(ids, PLANS_PER_SLICE).map(byIdSlice);
}

function searchSlice({ span, beyond, readings }: PlanSearch): Slice<RoutePlanWork> {
  const { beginAt, endAt } = intervalOf(span);
  const own = readings.filter((reading) => reading.beginAt < endAt && reading.endAt > beginAt);
  return {
    scope: `plans ${beginAt}/${endAt}`,
    work: { span, beyond, readings: own },
    covers: [{ scopes: [PLANS_SCOPE], beginAt, endAt }],
    furtherCalls: 'one for each plan of the search that may have changed',
  };
}

const byIdSlice = (ids: number[]): Slice<RoutePlanWork> => ({
  scope: `open plans ${ids[0]}-${ids.at(-1)} (${ids.length})`,
  work: { ids },
  calls: ids.length,
});

/** A search that was too large also extends less far beyond its span. One with too many plans is only divided. */
export function splitRoutePlans({ work }: Slice<RoutePlanWork>, code: string): Slice<RoutePlanWork>[] | undefined {
  if ('span' in work) {
    const beyond = code === TOO_MANY ? work.beyond : work.beyond / 2;
    return halves(work.span, LEAST_SPAN_MS)?.map((span) => searchSlice({ ...work, span, beyond }));
  }
  if (work.ids.length < 2) return undefined;
  return inTwo(work.ids).map(byIdSlice);
}

export const canBeCut = (span: Span): boolean => halves(span, LEAST_SPAN_MS) !== undefined;

const isWholeDay = ({ begin, end }: Span): boolean => begin % DAY_MS === 0 && end - begin === DAY_MS;
