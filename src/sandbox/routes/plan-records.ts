// A route plan and its points as the service returns them now: facts that have not arrived yet are absent. Distances are
// in kilometres and durations in seconds; the API document names no units.

import { personName } from '../made-up/names.ts';
import { seededRandom } from '../made-up/seeded-random.ts';
import { imageHash } from '../world/images.ts';
import type { PointDraft } from '../world/route-draft.ts';
import { planStatusAt, type RouteRun, type Stop } from '../world/route-run.ts';
import type { World } from '../world/world.ts';
import { vehicleIdentity } from './vehicle-records.ts';

const RETURN_REASONS = ['Customer absent', 'Refused by the customer', 'Address not found', 'Damaged goods'] as const;
const MANUAL_REASONS = ['Confirmed by telephone', 'Proof sent later'] as const;

const kilometres = (metres: number): number => Math.round(metres / 10) / 100;

export function planRecord(world: World, run: RouteRun, includes: readonly string[]): Record<string, unknown> {
  const { draft } = run;
  const { points, vehicleIndex } = draft;
  const wantsPoints = includes.some((name) => name.split('.')[0] === 'route_points');
  return {
    id: draft.id,
    status: planStatusAt(run, world.now()),
    external_code: draft.externalCode,
    source: draft.source,
    date_time_start: world.instant(draft.startAt),
    date_time_end: world.instant(draft.endAt),
    date_created: world.instant(draft.createdAt),
    total_time: points.reduce((sum, point) => sum + point.durationS, 0),
    total_distance: kilometres(points.reduce((sum, point) => sum + point.distanceM, 0)),
    total_points: points.length,
    total_capacity: points.reduce((sum, point) => sum + (point.capacity ?? 0), 0),
    route_id: draft.id + 1_000_000,
    vehicle_id: vehicleIndex === null ? null : vehicleIdentity(world.seed, vehicleIndex).id,
    user_id: draft.userId,
    ...(includes.includes('vehicle') || includes.includes('vehicle.device')
      ? { vehicle: vehicleObject(world, vehicleIndex, includes) }
      : {}),
    ...(includes.includes('user') ? { user: userObject(run) } : {}),
    ...(includes.includes('user_excluded') ? { user_excluded: null } : {}),
    ...(wantsPoints ? { route_points: pointsOf(world, run, includes) } : {}),
  };
}

function vehicleObject(world: World, index: number | null, includes: readonly string[]): unknown {
  if (index === null) return null;
  const { id, title, plate, capacity, device } = vehicleIdentity(world.seed, index);
  return { id, title, plate, capacity, ...(includes.includes('vehicle.device') ? { device } : {}) };
}

function userObject({ draft }: RouteRun): unknown {
  return draft.userId === null ? null : { id: draft.userId, name: draft.userName, login: `user${draft.userId}` };
}

function pointsOf(world: World, run: RouteRun, includes: readonly string[]): unknown[] {
  const wanted = includes
    .filter((name) => name.startsWith('route_points.'))
    .map((name) => name.slice('route_points.'.length));
  const points = [...run.draft.points].sort((a, b) => a.order - b.order);
  return points.map((point) => pointRecord(world, run, point, wanted));
}

export function pointRecord(
  world: World,
  run: RouteRun,
  point: PointDraft,
  includes: readonly string[],
): Record<string, unknown> {
  const stop = run.stops.find((one) => one.point === point && one.visibleAt <= world.now());
  const isOptimised = !['W', 'R', 'I'].includes(planStatusAt(run, world.now()));
  return {
    id: point.id,
    name: point.name,
    type: point.type,
    order: point.order,
    optimized_order: isOptimised ? point.optimizedOrder : point.order,
    address: point.place.address,
    latitude: point.place.latitude,
    longitude: point.place.longitude,
    status: stop?.outcome ?? 'P',
    time_scheduled: world.instant(point.scheduledAt),
    duration: point.durationS,
    distance: kilometres(point.distanceM),
    external_code: point.externalCode,
    capacity: point.capacity,
    time_window: point.timeWindow,
    disable_picture: point.disablePicture,
    ...(includes.includes('route_point_items') ? { route_point_items: point.items } : {}),
    ...(includes.includes('routes_info')
      ? { routes_info: stop === undefined ? [] : [executionRecord(world, stop)] }
      : {}),
  };
}

function executionRecord(world: World, stop: Stop): Record<string, unknown> {
  const { point, outcome } = stop;
  const random = seededRandom(world.seed, 'execution', point.id);
  const byAgent = outcome !== 'M';
  const returned = outcome === 'D' ? reason(RETURN_REASONS, random.bits()) : null;
  const manual = outcome === 'M' ? reason(MANUAL_REASONS, random.bits()) : null;
  const image = (what: string): string => `${imageHash(world.seed, what, point.id)}.png`;
  return {
    id: point.id,
    latitude: point.place.latitude,
    longitude: point.place.longitude,
    return_date: world.instant(stop.recordedAt),
    pictures: byAgent && point.disablePicture !== true ? image('picture') : null,
    signature_img: outcome === 'E' ? image('signature') : null,
    hodometer_picture: outcome === 'R' ? image('hodometer') : null,
    route_return_reason_id: returned?.id ?? null,
    route_return_reason: returned,
    route_executed_reason_id: manual?.id ?? null,
    route_executed_reason: manual === null ? null : { ...manual, user: personName(world.seed, 'office', 0) },
  };
}

const reason = (names: readonly string[], bits: number): { id: number; name: string } => {
  const place = bits % names.length;
  return { id: place + 1, name: names[place] as string };
};
