// Reads one slice of route plans: the search tells which plans there are, the plan call brings those that may
// have changed, with points, executions and items. A plan that is final, settled, and was met since is not asked
// for again.
import { Skippable } from '../../core/errors.ts';
import { routePlan as planCall } from '../../fleet/endpoints/route-plan.ts';
import { routePlans } from '../../fleet/endpoints/route-plans.ts';
import { FINAL_PLAN_STATUSES, type KnownPlan, plansStartingIn } from '../../warehouse/route-plan-facts.ts';
import { routePlan } from '../../warehouse/tables/route-plan.ts';
import type { Covers, Harvest, Slice, Source, Whole } from './pull-job.ts';
import { planLoads, planParts } from './route-plan-records.ts';
import {
  dayScope,
  isWholeDay,
  PLANS_SCOPE,
  type RoutePlanOptions,
  type RoutePlanWork,
} from './route-plan-slices.ts';
import { intervalOf, type Span } from './windows.ts';

/** More plans than this are not held in memory at once: the slice is cut instead. */
const MOST_PLANS = 1_000;

export async function readRoutePlans(
  { work }: Slice<RoutePlanWork>,
  source: Source,
  options: RoutePlanOptions,
): Promise<Harvest> {
  if ('ids' in work) {
    const plans = await askFor(work.ids, source);
    const whole = [{ table: routePlan, extent: { id: { in: work.ids } } }, ...planParts(plans)];
    return { loads: planLoads(plans), whole, covers: [] };
  }
  const found = await search(work.span, source, options);
  const { beginAt, endAt } = intervalOf(work.span);
  const known = await plansStartingIn(source.warehouse, beginAt, endAt);
  const asked = found.filter((plan) =>
    mayHaveChanged(plan, known.get(plan.id), work.lastReadAt, options.settle),
  );
  if (asked.length > MOST_PLANS) throw tooMany(asked.length);
  const plans = await askFor(
    asked.map(({ id }) => id),
    source,
  );
  return {
    loads: planLoads(plans),
    whole: [listedPlans(work.span, found, options), ...planParts(plans)],
    covers: coversOf(work.span, source.readAt),
  };
}

interface FoundPlan {
  id: number;
  status?: string | null;
  date_time_start?: string | null;
  date_time_end?: string | null;
}

/**
 * The plans that start in the span. Whether the service's period means the start or the whole plan is not
 * documented: asking `longest` further finds the plan either way, and what starts elsewhere is left to its day.
 */
async function search(
  { begin, end }: Span,
  source: Source,
  { longest }: RoutePlanOptions,
): Promise<FoundPlan[]> {
  const { beginAt, endAt } = intervalOf({ begin, end: end + longest });
  const records = await source.call(routePlans, { begin_date: beginAt, end_date: endAt });
  return records.filter(isFound).filter(({ date_time_start }) => {
    const at = Date.parse(date_time_start ?? '');
    return Number.isNaN(at) || (at >= begin && at < end);
  });
}

const isFound = (record: unknown): record is FoundPlan =>
  typeof record === 'object' && record !== null && Number.isInteger((record as FoundPlan).id);

function mayHaveChanged(
  plan: FoundPlan,
  known: KnownPlan | undefined,
  lastReadAt: string | null,
  settle: number,
) {
  if (known === undefined || lastReadAt === null || known.status !== plan.status) return true;
  if (!FINAL_PLAN_STATUSES.includes(known.status ?? '')) return true;
  const endedAt = Date.parse(known.date_time_end ?? '');
  // Settled at the last reading already, so that reading has met whatever came late.
  return Number.isNaN(endedAt) || endedAt + settle >= Date.parse(lastReadAt);
}

async function askFor(ids: readonly number[], source: Source): Promise<unknown[]> {
  const answers = await Promise.all(ids.map((id) => askForOne(id, source)));
  return answers.flat();
}

async function askForOne(id: number, source: Source): Promise<unknown[]> {
  try {
    return await source.call(planCall, { route_plan_id: id, includes: [...INCLUDES] });
  } catch (error) {
    if (error instanceof Skippable && error.code === 'not_found') return [];
    throw error;
  }
}

const INCLUDES = [
  'route_points',
  'route_points.routes_info',
  'route_points.route_point_items',
  'vehicle',
  'user',
] as const;

/** Plans that lie in the span by their start and cannot have been left out for their end. */
function listedPlans(
  { begin, end }: Span,
  found: readonly FoundPlan[],
  { longest }: RoutePlanOptions,
): Whole {
  const { beginAt: from, endAt: to } = intervalOf({ begin, end });
  const latestEnd = intervalOf({ begin, end: end + longest }).endAt;
  const extent = { date_time_start: { from, to }, date_time_end: { from, to: latestEnd } };
  return { table: routePlan, extent, alsoSeen: found.map(({ id }) => [id]) };
}

/** What has passed of the span is covered; the future is read again when it has come. */
function coversOf(span: Span, readAt: string): Covers[] {
  const day = isWholeDay(span) ? [{ scopes: [dayScope(span.begin)], ...intervalOf(span) }] : [];
  const passed = { begin: span.begin, end: Math.min(span.end, Date.parse(readAt)) };
  return passed.begin < passed.end ? [...day, { scopes: [PLANS_SCOPE], ...intervalOf(passed) }] : day;
}

const tooMany = (count: number): Skippable =>
  new Skippable(`${count} plans to ask for at once`, {
    code: 'too_large',
    hint: 'The period is cut into smaller ones.',
  });
