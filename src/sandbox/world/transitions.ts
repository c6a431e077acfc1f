// The true log of status changes of plans and points, with the instant from which the service showed each.
// What changed before a plan became visible was never seen: the plan then first shows with its latest status.
import { DAY_MS } from './company-time.ts';
import { searchPlans } from './route-plans.ts';
import type { PointStatus, RouteRun, StatusChange } from './route-run.ts';
import type { World } from './world.ts';

export interface Transition {
  entity: 'route_plan' | 'route_point';
  entity_id: number;
  /** null at first sight. */
  from_status: string | null;
  to_status: string;
  at: number;
}

/** A plan's last point may arrive this long after its period, and it is made this long before it. */
const LONGEST_TAIL_MS = 5 * DAY_MS;
const LONGEST_HEAD_MS = 2 * DAY_MS;

/** Transitions shown from `from` to `to`, both included, by their instants. */
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
  entity: Transition['entity'],
  entity_id: number,
  changes: readonly StatusChange<string>[],
  visibleAt: number,
): Transition[] {
  const firstSeen = Math.max(
    0,
    changes.findLastIndex((change) => change.at <= visibleAt),
  );
  return changes.slice(firstSeen).map((change, i, seen) => ({
    entity,
    entity_id,
    from_status: seen[i - 1]?.status ?? null,
    to_status: change.status,
    at: i === 0 ? Math.max(change.at, visibleAt) : change.at,
  }));
}
