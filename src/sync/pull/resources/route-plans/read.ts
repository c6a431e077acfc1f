// Reads one slice of route plans: the search tells which plans there are, the plan call brings those that may
// have changed, with points, executions and items. A plan that is final, settled, and was met since is not asked
// for again.

import { chunks } from '../../../../core/chunks.ts';
import { Skippable } from '../../../../core/errors.ts';
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
import { TOO_MANY } from '../../plan/slice-scale.ts';
import { untilRead } from '../../plan/window-slices.ts';
import { intervalOf, type Span } from '../../plan/windows.ts';
import { goneFrom } from '../../presets/unlisted.ts';
import { askableId, canBeAsked, type RecordId } from '../../records/record-id.ts';
import type { Load } from '../../records/types.ts';
import type { SliceResult, Source } from '../../types.ts';
import { canBeCut, type PlanSearch, type RoutePlanOptions, type RoutePlanWork, readScope } from './plan.ts';
import { idsOf, planLoads, planParts } from './records.ts';
import { findsAllThatStart, instantIn, learnFrom, unlearn } from './search-meaning.ts';

/** More plans than this are not held in memory at once: the slice is cut, or stored in parts where it cannot be. */
const MOST_PLANS = 1_000;

export async function readRoutePlans(
  { work, covers }: Slice<RoutePlanWork>,
  source: Source,
  options: RoutePlanOptions,
): Promise<SliceResult> {
  if ('ids' in work) {
    const { loads, fullRefresh } = await brought(work.ids, work.ids, source);
    return { loads, fullRefresh };
  }
  const { span, readings } = work;
  const { found, refused } = await search(work, source, options);
  const { beginAt, endAt } = intervalOf(span);
  const known = await plansStartingIn(source.warehouse, beginAt, endAt);
  const asked = found.filter((plan) =>
    mayHaveChanged(plan, known.get(plan.id), lastReadAt(plan, readings), options.settle),
  );
  const met = new Set(found.map(({ id }) => id));
  // A plan that the search no longer holds is asked for by id before it counts as gone: it may have moved.
  const unmet = [...known.values()].filter(
    ({ id, _missing_since }) => !met.has(id) && _missing_since === null,
  );
  const doubtful = unmet.map(({ id }) => id).filter(canBeAsked);
  const count = asked.length + doubtful.length;
  if (count > MOST_PLANS && canBeCut(span)) throw tooMany(count);
  const ids = [...asked.map(({ id }) => id), ...doubtful];
  let isMissed = false;
  let last = await brought([], [], source);
  for (const [index, part] of chunks(ids, MOST_PLANS).entries()) {
    if (index > 0) await source.commitPart(last);
    last = await brought(part, doubtful, source);
    isMissed ||= last.plans.some((plan) => !met.has(askableId(plan) ?? '') && startsIn(span, plan));
  }
  const { loads, fullRefresh } = last;
  const unplaced: Load = { table: routePlan, endpoint: routePlans, records: [], refused };
  if (isMissed) await unlearn(source);
  return {
    loads: [...loads, unplaced],
    fullRefresh,
    covered: coveredBy(covers, work, source.readAt, await foundAll(work, source, options)),
    invalidated: supersededBy(work),
  };
}

/** The plans by id; those of `doubtful` that are not there have vanished, with all that is below them. */
async function brought(ids: readonly RecordId[], doubtful: readonly RecordId[], source: Source) {
  const answers = await askFor(ids, source);
  const plans = answers.flatMap(({ records }) => records);
  const there = new Set(idsOf(plans));
  // An answer that holds anything else is no word about the plan: it is quarantined, and the plan asked for again.
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
 * The plans that start in the span; what starts elsewhere is left to its day. A record by which no plan can be asked
 * for is refused, so that it is told of.
 */
async function search(work: PlanSearch, source: Source, options: RoutePlanOptions) {
  const { span, beyond } = work;
  const isShort = isShorter(work, options) && (await findsAllThatStart(source));
  const period = intervalOf({ begin: span.begin, end: span.end + (isShort ? 0 : beyond) });
  const records = await source.call(routePlans, { begin_date: period.beginAt, end_date: period.endAt });
  await learnFrom(records, period, source);
  const found: FoundPlan[] = [];
  const refused: { record: unknown; reason: string }[] = [];
  for (const record of records) {
    if (!startsIn(span, record)) continue;
    const id = askableId(record);
    if (id === undefined) refused.push({ record, reason: 'id: none by which the plan can be asked for' });
    else found.push({ ...(record as FoundPlan), id });
  }
  return { found, refused };
}

/** It was cut, and reaches less far beyond its end than a plan may last. */
const isShorter = ({ beyond }: PlanSearch, { longest }: RoutePlanOptions): boolean => beyond < longest;

const foundAll = async (work: PlanSearch, source: Source, options: RoutePlanOptions): Promise<boolean> =>
  !isShorter(work, options) || (await findsAllThatStart(source));

/** A record that does not tell its start as an instant belongs to whichever span met it. */
function startsIn({ begin, end }: Span, record: unknown): boolean {
  const at = instantIn(record, 'date_time_start');
  return !(at < begin || at >= end);
}

/** When plans that start with this one were last read; null before. */
function lastReadAt(plan: FoundPlan, readings: readonly PlanReading[]): string | null {
  const start = instantIn(plan, 'date_time_start');
  const own = readings.filter(
    ({ beginAt, endAt }) => Date.parse(beginAt) <= start && start < Date.parse(endAt),
  );
  return own.reduce<string | null>((last, { at }) => (last === null || at > last ? at : last), null);
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
  source.mapCalls(ids, async (id, calling) => ({ id, records: await askForOne(id, calling) }));

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

/** What has passed of the span is covered if all of it was found. */
function coveredBy(
  covers: Slice['covers'],
  { span }: PlanSearch,
  readAt: string,
  isAll: boolean,
): ScopedInterval[] {
  const read = { scopes: [readScope(span)], ...intervalOf(span) };
  return isAll ? [read, ...untilRead(covers ?? [], readAt)] : [read];
}

/** Readings of smaller pieces have nothing to tell after this one. */
function supersededBy({ span, readings }: PlanSearch): ScopedInterval[] {
  const period = intervalOf(span);
  const inside = readings.filter(
    ({ scope, beginAt, endAt }) =>
      scope !== readScope(span) && beginAt >= period.beginAt && endAt <= period.endAt,
  );
  return inside.length === 0 ? [] : [{ scopes: inside.map(({ scope }) => scope), ...period }];
}

const tooMany = (count: number): Skippable =>
  new Skippable(`${count} plans to ask for at once`, {
    code: TOO_MANY,
    hint: 'The period is cut into smaller ones.',
  });
