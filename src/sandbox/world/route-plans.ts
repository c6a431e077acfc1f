// Every route plan that the service shows now, generated or imported, with its execution.

import type { Shapes } from '../http/shapes.ts';
import { dayIds } from '../made-up/identifiers.ts';
import { dayOf, FOUNDING_DAY, startOfDay } from './company-time.ts';
import { datedCode } from './daily-routes.ts';
import type { RouteDraft } from './route-draft.ts';
import { type RouteRun, runRoute } from './route-run.ts';
import type { World } from './world.ts';

export function findPlan(world: World, id: number): RouteRun | undefined {
  const entry = world.journal.latest<RouteDraft>('route_plan').get(id);
  const run = entry === undefined ? generatedPlan(world, id) : runRoute(entry.record);
  return run !== undefined && run.draft.visibleAt <= world.now() ? run : undefined;
}

function generatedPlan(world: World, id: number): RouteRun | undefined {
  const key = dayIds.keyOf(id);
  if (key === undefined) return undefined;
  const { run, isPlan } = world.activity(key.index, key.day);
  return isPlan ? run : undefined;
}

export interface PlanSearch {
  /** Each bound is optional; the `planSearch` shape decides how a plan has to lie to them. */
  from?: number;
  to?: number;
  /** External code or id. */
  code?: string;
  /** Index of the executing vehicle. */
  vehicle?: number;
}

/** Plans in order of start and id. */
export function searchPlans(world: World, search: PlanSearch): RouteRun[] {
  const { code, vehicle } = search;
  const now = world.now();
  const isWanted = (draft: RouteDraft): boolean =>
    draft.visibleAt <= now &&
    isInPeriod(draft, search, world.shapes) &&
    (vehicle === undefined || draft.vehicleIndex === vehicle) &&
    (code === undefined || draft.externalCode === code || String(draft.id) === code);
  const imported = [...world.journal.latest<RouteDraft>('route_plan').values()].map((entry) => entry.record);
  const generated = code === undefined ? generatedPlans(world, search) : generatedByCode(world, code);
  return [...imported.filter(isWanted).map(runRoute), ...generated.filter((run) => isWanted(run.draft))].sort(
    (a, b) => a.draft.startAt - b.draft.startAt || a.draft.id - b.draft.id,
  );
}

function isInPeriod(
  { startAt, endAt }: RouteDraft,
  { from, to }: PlanSearch,
  { planSearch, periodEnds }: Shapes,
): boolean {
  const isDays = planSearch === 'days';
  const begin = from === undefined || !isDays ? from : startOfDay(dayOf(from));
  const end = to === undefined || !isDays ? to : startOfDay(dayOf(to) + 1);
  const first = planSearch === 'overlap' || isDays ? endAt : startAt;
  const last = planSearch === 'containment' ? endAt : startAt;
  const isBeforeEnd = end === undefined || last < end || (last === end && periodEnds === 'inclusive');
  return isBeforeEnd && (begin === undefined || first >= begin);
}

/** The code of a generated plan contains its day, so only that day is searched. */
function* generatedByCode(world: World, code: string): Generator<RouteRun> {
  const byId = generatedPlan(world, Number(code));
  if (byId !== undefined) yield byId;
  const noon = Date.parse(`${datedCode(code)}T12:00:00Z`);
  if (!Number.isNaN(noon)) yield* generatedPlans(world, { from: noon, to: noon });
}

function* generatedPlans(world: World, { from, to, vehicle }: PlanSearch): Generator<RouteRun> {
  const { roster } = world;
  const today = dayOf(world.now());
  const first = from === undefined ? FOUNDING_DAY : Math.max(FOUNDING_DAY, dayOf(from) - 1);
  const last = to === undefined ? today + 1 : Math.min(today + 1, dayOf(to));
  const vehicles = vehicle === undefined ? roster.listedBetween(startOfDay(first), startOfDay(last + 1)) : [vehicle];
  for (const index of vehicles) {
    const life = roster.life(index);
    if (life === undefined) continue;
    const lastDay = Math.min(last, dayOf(life.cancelledAt));
    for (let day = Math.max(first, dayOf(life.createdAt)); day <= lastDay; day++) {
      const { run, isPlan } = world.activity(index, day);
      if (isPlan && run !== undefined) yield run;
    }
  }
}
