// The true log of the status changes of plans and points, with the instant from which the service showed each. A change
// before the plan became visible was never shown: the plan first appears with its latest status.
import { DAY_MS } from './company-time.ts';
import { searchPlans } from './route-plans.ts';
import type { PointStatus, RouteRun, StatusChange } from './route-run.ts';
import type { World } from './world.ts';

type Transition = ReturnType<typeof logOf>[number];

/** The last point of a plan may arrive this long after its period; a plan is made this long before its period. */
const LONGEST_TAIL_MS = 5 * DAY_MS;
const LONGEST_HEAD_MS = 2 * DAY_MS;

/** Transitions shown between `from` and `to`, both included, in order of time. */
export function transitionsBetween(world: World, from: number, to: number): Transition[] {
  const last = Math.min(to, world.now());
  const runs = searchPlans(world, { from: from - LONGEST_TAIL_MS, to: last + LONGEST_HEAD_MS });
  return runs
    .flatMap(transitionsOf)
    .filter((one) => one.at >= from && one.at <= last)
    .sort((a, b) => a.at - b.at || a.entity_id - b.entity_id);
}

export function transitionsOf(run: RouteRun): Transition[] {
  const { draft } = run;
  const found = logOf('route_plan', draft.id, run.changes, draft.visibleAt);
  for (const point of draft.points) {
    const stop = run.stops.find((one) => one.point === point);
    const changes: StatusChange<PointStatus>[] = [{ status: 'P', at: draft.createdAt }];
    if (stop !== undefined) changes.push({ status: stop.outcome, at: stop.visibleAt });
    found.push(...logOf('route_point', point.id, changes, draft.visibleAt));
  }
  return found;
}

function logOf(
  entity: 'route_plan' | 'route_point',
  entity_id: number,
  changes: readonly StatusChange<string>[],
  visibleAt: number,
) {
  const firstShown = Math.max(
    0,
    changes.findLastIndex((change) => change.at <= visibleAt),
  );
  return changes.slice(firstShown).map((change, i, shown) => ({
    entity,
    entity_id,
    /** Null for the first status that was shown. */
    from_status: shown[i - 1]?.status ?? null,
    to_status: change.status,
    at: i === 0 ? Math.max(change.at, visibleAt) : change.at,
  }));
}
