// Reads one slice of route plans: a search lists the plans, then a call by id reads each plan that may have changed, with
// points, executions and items. A final plan that was read after it settled is not read again.

import { chunks } from '../../../../core/chunks.ts';
import { routePlan as planCall } from '../../../../fleet/endpoints/route-plan.ts';
import { routePlans } from '../../../../fleet/endpoints/route-plans.ts';
import type { ScopedInterval } from '../../../../warehouse/control/coverage.ts';
import {
  FINAL_PLAN_STATUSES,
  type KnownPlan,
  type PlanReading,
  plansStartingIn,
} from '../../../../warehouse/queries/route-plan-facts.ts';
import { routePlan } from '../../../../warehouse/tables/route-plan.ts';
import type { Slice } from '../../../slice.ts';
import { tooMany } from '../../plan/slice-limits.ts';
import { untilRead } from '../../plan/window-slices.ts';
import { intervalOf, type Span, searchPeriod } from '../../plan/windows.ts';
import { goneFrom, noneIfUnknown } from '../../presets/unlisted.ts';
import { askableId, canBeAsked, type RecordId } from '../../records/record-id.ts';
import type { Load } from '../../records/types.ts';
import type { SliceResult, Source } from '../../types.ts';
import { canBeCut, type PlanSearch, type RoutePlanOptions, type RoutePlanWork, readScope } from './plan.ts';
import { idsOf, planLoads, planParts } from './records.ts';
import { findsAllThatStart, instantIn, learnFrom, unlearn } from './search-meaning.ts';

/** Most plans that a slice reads. One with more is cut, if it can be. */
const MOST_PLANS = 1_000;
/** Plans that are in memory at once, with all their points and items: a slice stores them part by part. */
const PLANS_A_PART = 100;

export async function readRoutePlans(
  { work, covers }: Slice<RoutePlanWork>,
  source: Source,
  options: RoutePlanOptions,
): Promise<SliceResult> {
  if ('ids' in work) {
    const { loads, fullRefresh } = await readPlans(work.ids, work.ids, source);
    return { loads, fullRefresh };
  }
  const { span, readings } = work;
  const { found, rejected } = await search(work, source, options);
  const { beginAt, endAt } = intervalOf(span);
  const known = await plansStartingIn(source.warehouse, beginAt, endAt);
  const open = source.openIds(routePlan);
  const changed = found.filter(
    (plan) =>
      !open.has(String(plan.id)) &&
      mayHaveChanged(plan, known.get(plan.id), lastReadAt(plan, readings), options.settle),
  );
  const seen = new Set(found.map(({ id }) => id));
  // A known plan that the search does not return is read by id before it counts as gone: it may have moved.
  const unseen = [...known.values()].filter(
    ({ id, _missing_since }) => !seen.has(id) && _missing_since === null && !open.has(String(id)),
  );
  const doubtful = unseen.map(({ id }) => id).filter(canBeAsked);
  const count = changed.length + doubtful.length;
  if (count > MOST_PLANS && canBeCut(span)) {
    throw tooMany(`${count} plans to read; the limit is ${MOST_PLANS}`);
  }
  const ids = [...changed.map(({ id }) => id), ...doubtful];
  source.checkCalls(ids.length);
  let isMissed = false;
  let last = await readPlans([], [], source);
  for (const [index, part] of chunks(ids, PLANS_A_PART).entries()) {
    if (index > 0) await source.commitPart(last);
    last = await readPlans(part, doubtful, source);
    isMissed ||= last.plans.some((plan) => !seen.has(askableId(plan) ?? '') && startsIn(span, plan));
  }
  const { loads, fullRefresh } = last;
  const withoutId: Load = { table: routePlan, endpoint: routePlans, records: [], rejected };
  if (isMissed) await unlearn(source);
  return {
    loads: [...loads, withoutId],
    fullRefresh,
    covered: coveredBy(covers, work, source.readAt, await foundAll(work, source, options)),
    invalidated: supersededBy(work),
  };
}

/** Reads plans by id. Plans of `doubtful` that the service does not have are gone, with all their child rows. */
async function readPlans(ids: readonly RecordId[], doubtful: readonly RecordId[], source: Source) {
  const answers = await source.mapCalls(ids, async (id, { call }) => ({
    id,
    records: await noneIfUnknown(call(planCall, { route_plan_id: id, includes: [...INCLUDES] })),
  }));
  const plans = answers.flatMap(({ records }) => records);
  const there = new Set(idsOf(plans));
  // Only an empty answer proves that the plan is gone. Any other record is quarantined, and the plan is read again.
  const absent = new Set(answers.filter(({ records }) => records.length === 0).map(({ id }) => id));
  const gone = doubtful.filter((id) => absent.has(id) && !there.has(id));
  const fullRefresh = [...goneFrom(routePlan, 'id', gone), ...planParts(plans, gone)];
  return { plans, loads: planLoads(plans), fullRefresh };
}

interface FoundPlan {
  id: RecordId;
  status?: string | null;
  date_time_start?: string | null;
  date_time_end?: string | null;
}

/**
 * The plans that start in the span; other plans are left to the search of their own day. A record without a usable id is
 * rejected, so that it goes to quarantine.
 */
async function search(work: PlanSearch, source: Source, options: RoutePlanOptions) {
  const { span, beyond } = work;
  const isShort = isShorter(work, options) && (await findsAllThatStart(source));
  const period = searchPeriod({ begin: span.begin, end: span.end + (isShort ? 0 : beyond) });
  const records = await source.call(routePlans, { begin_date: period.beginAt, end_date: period.endAt });
  await learnFrom(records, period, source);
  const found: FoundPlan[] = [];
  const rejected: { record: unknown; reason: string }[] = [];
  for (const record of records) {
    if (!startsIn(span, record)) continue;
    const id = askableId(record);
    if (id === undefined) rejected.push({ record, reason: 'id: missing, or not usable to request the plan' });
    else found.push({ ...(record as FoundPlan), id });
  }
  return { found, rejected };
}

/** The search was cut, and extends beyond its span by less than the longest plan. */
const isShorter = ({ beyond }: PlanSearch, { longest }: RoutePlanOptions): boolean => beyond < longest;

const foundAll = async (work: PlanSearch, source: Source, options: RoutePlanOptions): Promise<boolean> =>
  !isShorter(work, options) || (await findsAllThatStart(source));

/** A record without a readable start belongs to every span whose search returns it. */
function startsIn({ begin, end }: Span, record: unknown): boolean {
  const at = instantIn(record, 'date_time_start');
  return !(at < begin || at >= end);
}

/** When the plan's part of the timeline was last read; null if never. */
function lastReadAt(plan: FoundPlan, readings: readonly PlanReading[]): string | null {
  const start = instantIn(plan, 'date_time_start');
  const own = readings.filter(({ beginAt, endAt }) => Date.parse(beginAt) <= start && start < Date.parse(endAt));
  return own.reduce<string | null>((last, { at }) => (last === null || at > last ? at : last), null);
}

function mayHaveChanged(plan: FoundPlan, known: KnownPlan | undefined, lastReadAt: string | null, settle: number) {
  if (known === undefined || lastReadAt === null || known.status !== plan.status) return true;
  // The plan was missing and has returned.
  if (known._missing_since !== null) return true;
  if (!FINAL_PLAN_STATUSES.includes(known.status ?? '')) return true;
  const finalSince = Math.max(Date.parse(known.date_time_end ?? ''), Date.parse(known.turned_at ?? '') || 0);
  // If the plan had settled before the last reading, that reading included all late data.
  return Number.isNaN(finalSince) || finalSince + settle >= Date.parse(lastReadAt);
}

const INCLUDES = [
  'route_points',
  'route_points.routes_info',
  'route_points.route_point_items',
  'vehicle',
  'user',
] as const;

/** The past part of the span is covered if the search found all its plans. */
function coveredBy(covers: Slice['covers'], { span }: PlanSearch, readAt: string, isAll: boolean): ScopedInterval[] {
  const read = { scopes: [readScope(span)], ...intervalOf(span) };
  return isAll ? [read, ...untilRead(covers ?? [], readAt)] : [read];
}

/** This reading replaces earlier readings of smaller parts of the span. */
function supersededBy({ span, readings }: PlanSearch): ScopedInterval[] {
  const period = intervalOf(span);
  const inside = readings.filter(
    ({ scope, beginAt, endAt }) => scope !== readScope(span) && beginAt >= period.beginAt && endAt <= period.endAt,
  );
  return inside.length === 0 ? [] : [{ scopes: inside.map(({ scope }) => scope), ...period }];
}
