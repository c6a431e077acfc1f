// The execution of a route: when the plan changes status, when the vehicle reaches and leaves each stop, and what the
// agent reports there. A pure function of the draft; callers filter by what has arrived.

import { type Random, seededRandom } from '../made-up/seeded-random.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from './company-time.ts';
import { isTerminus, type PointDraft, type RouteDraft, travelSeconds } from './route-draft.ts';

export type PlanStatus = 'W' | 'R' | 'P' | 'E' | 'C' | 'I';
export type PointStatus = 'P' | 'R' | 'E' | 'D' | 'M';

export interface StatusChange<Status> {
  status: Status;
  /** The service shows the status from this instant on. */
  at: number;
}

export interface Stop {
  point: PointDraft;
  arriveAt: number;
  leaveAt: number;
  outcome: Exclude<PointStatus, 'P'>;
  /** When the agent, or the office for M, recorded the outcome. */
  recordedAt: number;
  visibleAt: number;
}

export interface RouteRun {
  draft: RouteDraft;
  /** In order of time; the first is the creation of the plan. */
  changes: readonly StatusChange<PlanStatus>[];
  /** Empty if the optimisation failed. */
  stops: readonly Stop[];
}

const FAILURE_CHANCE = 0.04;

export function runRoute(draft: RouteDraft): RouteRun {
  const random = seededRandom('run', ...draft.key);
  const changes = optimisation(draft, random);
  const ready = changes.at(-1) as StatusChange<PlanStatus>;
  if (ready.status === 'I') return { draft, changes, stops: [] };
  const beginAt = Math.max(draft.startAt + random.int(-5, 25) * MINUTE_MS, ready.at + MINUTE_MS);
  const stops = visits(draft, beginAt, random);
  const firstSeenAt = Math.min(...stops.map((stop) => stop.visibleAt));
  const startedAt = Math.max(Math.min(beginAt + arrivalLag(random), firstSeenAt), ready.at + SECOND_MS);
  const lastLeftAt = stops.at(-1)?.leaveAt ?? beginAt;
  const endedAt = Math.max(lastLeftAt + arrivalLag(random), startedAt + MINUTE_MS);
  return {
    draft,
    changes: [...changes, { status: 'E', at: startedAt }, { status: 'C', at: endedAt }],
    stops,
  };
}

function optimisation(draft: RouteDraft, random: Random): StatusChange<PlanStatus>[] {
  if (!draft.isAsync) return [{ status: 'P', at: draft.createdAt }];
  const begunAt = draft.createdAt + random.int(10, 40) * SECOND_MS;
  const doneAt = draft.createdAt + random.int(60, 120) * SECOND_MS;
  return [
    { status: 'W', at: draft.createdAt },
    { status: 'R', at: begunAt },
    { status: random.chance(FAILURE_CHANCE) ? 'I' : 'P', at: doneAt },
  ];
}

function visits(draft: RouteDraft, beginAt: number, random: Random): Stop[] {
  const stops: Stop[] = [];
  let at = beginAt;
  for (const point of draft.points) {
    const travelS = stops.length === 0 ? 0 : travelSeconds(point.distanceM) * (0.8 + random.next() * 0.6);
    const arriveAt = at + Math.round(travelS) * SECOND_MS;
    const leaveAt = arriveAt + Math.round(Math.max(60, point.durationS) * (0.6 + random.next())) * SECOND_MS;
    const outcome = stopOutcome(point, random);
    const byOfficeAt = leaveAt + random.int(3, 20) * HOUR_MS;
    const recordedAt = outcome === 'M' ? byOfficeAt : leaveAt;
    const visibleAt = recordedAt + (outcome === 'M' ? 30 * SECOND_MS : arrivalLag(random));
    stops.push({ point, arriveAt, leaveAt, outcome, recordedAt, visibleAt });
    at = leaveAt;
  }
  return stops;
}

function stopOutcome(point: PointDraft, random: Random): Stop['outcome'] {
  const luck = random.next();
  if (isTerminus(point.type)) return 'R';
  if (luck < 0.08) return 'D';
  return luck < 0.12 ? 'M' : 'E';
}

export const planStatusAt = (run: RouteRun, now: number): PlanStatus =>
  (run.changes.findLast((change) => change.at <= now) ?? (run.changes[0] as StatusChange<PlanStatus>)).status;

/** The time from the road to the service: mostly seconds, rarely one or two days, when a device had no signal. */
export function arrivalLag(random: Random): number {
  const luck = random.next();
  if (luck < 0.85) return random.int(5, 120) * SECOND_MS;
  if (luck < 0.94) return random.int(2, 30) * MINUTE_MS;
  if (luck < 0.985) return random.int(60, 8 * 60) * MINUTE_MS;
  return random.int(24, 47) * HOUR_MS;
}
