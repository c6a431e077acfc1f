// Accepts or rejects an imported plan. A body that breaks the rules of the API document is rejected with 422. A plan
// without a known vehicle, driver or point is reported in wrong_route_plans; single points in wrong_lines or
// unassigned_points.
import { z } from 'zod';
import { checked, instant, orNull, requiredText } from '../http/parameters.ts';
import { cpfOf } from '../made-up/cpf.ts';
import { userIds, writtenPartId } from '../made-up/identifiers.ts';
import { personName } from '../made-up/names.ts';
import { plateOf } from '../made-up/plates.ts';
import type { WrittenAgent } from '../world/drivers.ts';
import type { RouteDraft } from '../world/route-draft.ts';
import type { World } from '../world/world.ts';
import { draftPoints, type ImportPoint, inDrivingOrder, parsePoints, type WrongLine } from './import-points.ts';

const texts = orNull(z.array(z.string()));
const PLAN = z.object({
  optimize: z.boolean(),
  geocoding: z.boolean(),
  has_time_window: z.boolean(),
  is_async: z.boolean(),
  source: requiredText,
  data: z
    .object({
      date_time_start: instant,
      date_time_end: instant,
      external_code: requiredText,
      route_points: z.array(z.unknown()),
      vehicle_plate: orNull(z.string()),
      vehicle_plates: texts,
      document_number: orNull(z.string()),
      document_numbers: texts,
      entity: orNull(
        z.array(z.object({ vehicle_plate: requiredText, document_number: requiredText, helper: orNull(z.string()) })),
      ),
    })
    .refine(
      ({ vehicle_plates, document_numbers }) => vehicle_plates === null || document_numbers === null,
      'only one of vehicle_plates and document_numbers may be given',
    ),
});
type PlanBody = z.output<typeof PLAN>;

/** The most points of one vehicle in an optimised plan. */
const POINTS_PER_VEHICLE = 60;

interface Crew {
  vehicles: number[];
  user: { id: number; name: string } | undefined;
}

export function importPlan(world: World, body: unknown) {
  const plan = checked(PLAN, body);
  const { optimize, data } = plan;
  const crew = crewOf(world, data);
  if (typeof crew === 'string') return rejectedPlan(data.external_code, crew, []);
  const { points, wrong } = parsePoints(data.route_points, world.seed);
  if (points.length === 0) return rejectedPlan(data.external_code, 'No point of the plan can be used', wrong);
  const room = optimize ? POINTS_PER_VEHICLE * Math.max(1, crew.vehicles.length) : points.length;
  const ordered = inDrivingOrder(points.slice(0, room), optimize);
  return {
    draft: draftOf(world, plan, crew, ordered),
    wrongLines: wrong,
    wrongPlans: [],
    unassigned: points.slice(room).map((point) => point.given),
  };
}

const rejectedPlan = (external_code: string, message: string, wrongLines: WrongLine[]) => ({
  draft: undefined,
  wrongLines,
  wrongPlans: [{ external_code, message }],
  unassigned: [],
});

function draftOf(world: World, plan: PlanBody, crew: Crew, ordered: readonly ImportPoint[]): RouteDraft {
  const { source, is_async: isAsync, data } = plan;
  const id = world.journal.nextId('route_plan');
  const vehicleIndex = crew.vehicles[0] ?? null;
  const createdAt = world.now();
  const user = crew.user ?? (vehicleIndex === null ? undefined : driverOf(world, vehicleIndex));
  return {
    startAt: data.date_time_start,
    endAt: data.date_time_end,
    externalCode: data.external_code,
    source,
    isAsync,
    id,
    key: [world.seed, 'import', id],
    createdAt,
    visibleAt: createdAt + world.importVisibleAfterMs,
    vehicleIndex,
    userId: user?.id ?? null,
    userName: user?.name ?? null,
    points: draftPoints(ordered, data.date_time_start, (line) => writtenPartId((id - 1) / 2, line)),
  };
}

const driverOf = (world: World, index: number) => ({
  id: userIds.of(index),
  name: personName(world.seed, 'driver', index),
});

/** The vehicles and the driver, or the reason why there are none. */
function crewOf(world: World, data: PlanBody['data']): Crew | string {
  const entities = data.entity ?? [];
  const plates = [data.vehicle_plate, ...(data.vehicle_plates ?? []), ...entities.map((one) => one.vehicle_plate)];
  const wantedPlates = plates.filter((plate) => plate !== null);
  const document = data.document_number ?? data.document_numbers?.[0] ?? entities[0]?.document_number;
  const vehicles = knownVehicles(world, wantedPlates);
  if (wantedPlates.length > 0 && vehicles.length === 0) return 'No vehicle has this plate';
  const user = document === undefined ? undefined : userByDocument(world, document);
  if (document !== undefined && user === undefined) return 'No driver has this document number';
  return { vehicles, user };
}

function knownVehicles(world: World, plates: readonly string[]): number[] {
  if (plates.length === 0) return [];
  const byPlate = new Map(plates.map((plate): [string, number | undefined] => [plate, undefined]));
  for (const index of world.roster.listed(world.now())) {
    const plate = plateOf(world.seed, index);
    if (byPlate.has(plate)) byPlate.set(plate, index);
  }
  return [...byPlate.values()].filter((index) => index !== undefined);
}

const digits = (text: string): string => text.replace(/\D/g, '');

function userByDocument(world: World, document: string): Crew['user'] {
  const wanted = digits(document);
  for (const index of world.roster.listed(world.now())) {
    if (cpfOf(world.seed, index) === wanted) return driverOf(world, index);
  }
  for (const entry of world.journal.latest<WrittenAgent>('agent').values()) {
    if (digits(entry.record.cpf) === wanted) return { id: entry.id, name: entry.record.name };
  }
  return undefined;
}
