// Reads one slice of route plans: the search tells which plans there are, the plan call brings those that may
// have changed, with points, executions and items. A plan that is final, settled, and was met since is not asked
// for again.
import { Skippable } from '../../core/errors.ts';
import { routePlan as planCall } from '../../fleet/endpoints/route-plan.ts';
import { routePlans } from '../../fleet/endpoints/route-plans.ts';
import { toInstant } from '../../fleet/instants.ts';
import { FINAL_PLAN_STATUSES, type KnownPlan, plansStartingIn } from '../../warehouse/route-plan-facts.ts';
import { routePlan } from '../../warehouse/tables/route-plan.ts';
import type { Covers, Harvest, Load, Slice, Source } from './pull-job.ts';
import { idsOf, planLoads, planParts } from './route-plan-records.ts';
import {
  dayScope,
  isWholeDay,
  PLANS_SCOPE,
  type RoutePlanOptions,
  type RoutePlanWork,
} from './route-plan-slices.ts';
import { askableId, canBeAsked, goneFrom, type RecordId } from './unlisted.ts';
import { intervalOf, type Span } from './windows.ts';

/** More plans than this are not held in memory at once: the slice is cut instead. */
const MOST_PLANS = 1_000;

export async function readRoutePlans(
  { work }: Slice<RoutePlanWork>,
  source: Source,
  options: RoutePlanOptions,
): Promise<Harvest> {
  if ('ids' in work) return { ...(await brought(work.ids, work.ids, source)), covers: [] };
  const { found, refused } = await search(work.span, source, options);
  const { beginAt, endAt } = intervalOf(work.span);
  const known = await plansStartingIn(source.warehouse, beginAt, endAt);
  const asked = found.filter((plan) =>
    mayHaveChanged(plan, known.get(plan.id), work.lastReadAt, options.settle),
  );
  const met = new Set(found.map(({ id }) => id));
  // A plan that the search no longer holds is asked for by id before it counts as gone: it may have moved.
  const unmet = [...known.values()].filter(
    ({ id, _missing_since }) => !met.has(id) && _missing_since === null,
  );
  const doubtful = unmet.map(({ id }) => id).filter(canBeAsked);
  if (asked.length + doubtful.length > MOST_PLANS) throw tooMany(asked.length + doubtful.length);
  const ids = [...asked.map(({ id }) => id), ...doubtful];
  const { loads, whole } = await brought(ids, doubtful, source);
  const unplaced: Load = { table: routePlan, record: routePlans.record, records: [], refused };
  return { loads: [...loads, unplaced], whole, covers: coversOf(work.span, source.readAt) };
}

/** The plans by id; those of `doubtful` that are not there have vanished, with all that is below them. */
async function brought(ids: readonly RecordId[], doubtful: readonly RecordId[], source: Source) {
  const answers = await askFor(ids, source);
  const plans = answers.flatMap(({ records }) => records);
  const there = new Set(idsOf(plans));
  // An answer that holds anything else is no word about the plan: it is quarantined, and the plan asked for again.
  const absent = new Set(answers.filter(({ records }) => records.length === 0).map(({ id }) => id));
  const gone = doubtful.filter((id) => absent.has(id) && !there.has(id));
  const whole = [...goneFrom(routePlan, 'id', gone), ...planParts(plans, gone)];
  return { loads: planLoads(plans), whole };
}

interface FoundPlan {
  id: RecordId;
  status?: string | null;
  date_time_start?: string | null;
  date_time_end?: string | null;
}

/**
 * The plans that start in the span. Whether the service's period means the start or the whole plan is not
 * documented: asking `longest` further finds the plan either way, and what starts elsewhere is left to its day.
 * A record by which no plan can be asked for is refused, so that it is told of.
 */
async function search({ begin, end }: Span, source: Source, { longest }: RoutePlanOptions) {
  const { beginAt, endAt } = intervalOf({ begin, end: end + longest });
  const records = await source.call(routePlans, { begin_date: beginAt, end_date: endAt });
  const found: FoundPlan[] = [];
  const refused: { record: unknown; reason: string }[] = [];
  for (const record of records) {
    const at = startOf(record);
    if (at < begin || at >= end) continue;
    const id = askableId(record);
    if (id === undefined) refused.push({ record, reason: 'id: none by which the plan can be asked for' });
    else found.push({ ...(record as FoundPlan), id });
  }
  return { found, refused };
}

/** NaN where the record does not tell it as an instant: then it belongs to whichever day met it. */
function startOf(record: unknown): number {
  const start = (record as { date_time_start?: unknown } | null)?.date_time_start;
  return Date.parse((typeof start === 'string' && toInstant(start)) || '');
}

function mayHaveChanged(
  plan: FoundPlan,
  known: KnownPlan | undefined,
  lastReadAt: string | null,
  settle: number,
) {
  if (known === undefined || lastReadAt === null || known.status !== plan.status) return true;
  // It has returned.
  if (known._missing_since !== null) return true;
  if (!FINAL_PLAN_STATUSES.includes(known.status ?? '')) return true;
  const restsSince = Math.max(Date.parse(known.date_time_end ?? ''), Date.parse(known.turned_at ?? '') || 0);
  // Settled at the last reading already, so that reading has met whatever came late.
  return Number.isNaN(restsSince) || restsSince + settle >= Date.parse(lastReadAt);
}

const askFor = (ids: readonly RecordId[], source: Source) =>
  Promise.all(ids.map(async (id) => ({ id, records: await askForOne(id, source) })));

async function askForOne(id: RecordId, source: Source): Promise<unknown[]> {
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
