// Accepts or rejects an imported plan. A body that breaks the rules of the API document is rejected with 422. A plan
// without a known vehicle, driver or point is reported in wrong_route_plans; single points in wrong_lines or
// unassigned_points.
import { isJsonObject } from '../../core/glossary.ts';
import { Rejection } from '../http/answer.ts';
import {
  requiredBoolean,
  requiredInstantField,
  requiredText,
  textField,
  textListField,
} from '../http/written-fields.ts';
import { cpfOf } from '../made-up/cpf.ts';
import { userIds, writtenPartId } from '../made-up/identifiers.ts';
import { personName } from '../made-up/names.ts';
import { plateOf } from '../made-up/plates.ts';
import type { WrittenAgent } from '../world/drivers.ts';
import type { RouteDraft } from '../world/route-draft.ts';
import type { World } from '../world/world.ts';
import { draftPoints, type ImportPoint, inDrivingOrder, parsePoints, type WrongLine } from './import-points.ts';

export interface ImportResult {
  draft: RouteDraft | undefined;
  wrongLines: WrongLine[];
  wrongPlans: { external_code: string; message: string }[];
  unassigned: Record<string, unknown>[];
}

/** The most points of one vehicle in an optimised plan. */
const POINTS_PER_VEHICLE = 60;

interface Crew {
  vehicles: number[];
  user: { id: number | null; name: string } | undefined;
}

export function importPlan(world: World, body: unknown): ImportResult {
  const top = isJsonObject(body) ? body : {};
  const optimize = requiredBoolean(top, 'optimize');
  requiredBoolean(top, 'geocoding');
  requiredBoolean(top, 'has_time_window');
  const isAsync = requiredBoolean(top, 'is_async');
  const source = requiredText(top, 'source');
  if (!isJsonObject(top.data)) throw new Rejection(422, 'data: is required and must be an object');
  const { data } = top;
  const startAt = requiredInstantField(data, 'date_time_start');
  const endAt = requiredInstantField(data, 'date_time_end');
  const externalCode = requiredText(data, 'external_code');
  if (!Array.isArray(data.route_points)) throw new Rejection(422, 'route_points: is required and must be a list');

  const crew = crewOf(world, data);
  if (typeof crew === 'string') return rejectedPlan(externalCode, crew, []);
  const { points, wrong } = parsePoints(data.route_points, world.seed);
  if (points.length === 0) return rejectedPlan(externalCode, 'No point of the plan can be used', wrong);
  const room = optimize ? POINTS_PER_VEHICLE * Math.max(1, crew.vehicles.length) : points.length;
  const ordered = inDrivingOrder(points.slice(0, room), optimize);
  const plan = { startAt, endAt, externalCode, source, isAsync };
  return {
    draft: draftOf(world, plan, crew, ordered),
    wrongLines: wrong,
    wrongPlans: [],
    unassigned: points.slice(room).map((point) => point.given),
  };
}

const rejectedPlan = (external_code: string, message: string, wrongLines: WrongLine[]): ImportResult => ({
  draft: undefined,
  wrongLines,
  wrongPlans: [{ external_code, message }],
  unassigned: [],
});

function draftOf(
  world: World,
  plan: Pick<RouteDraft, 'startAt' | 'endAt' | 'externalCode' | 'source' | 'isAsync'>,
  crew: Crew,
  ordered: readonly ImportPoint[],
): RouteDraft {
  const id = world.journal.nextId('route_plan');
  const vehicleIndex = crew.vehicles[0] ?? null;
  const createdAt = world.now();
  const driver = vehicleIndex === null ? undefined : driverOf(world, vehicleIndex);
  const user = crew.user ?? driver;
  return {
    ...plan,
    id,
    key: [world.seed, 'import', id],
    createdAt,
    visibleAt: createdAt + world.importVisibleAfterMs,
    vehicleIndex,
    userId: user?.id ?? null,
    userName: user?.name ?? null,
    points: draftPoints(ordered, plan.startAt, (line) => writtenPartId((id - 1) / 2, line)),
  };
}

const driverOf = (world: World, index: number) => ({
  id: userIds.of(index),
  name: personName(world.seed, 'driver', index),
});

/** The vehicles and the driver, or the reason why there are none. */
function crewOf(world: World, data: Record<string, unknown>): Crew | string {
  const plates = textListField(data, 'vehicle_plates');
  const documents = textListField(data, 'document_numbers');
  if (plates !== null && documents !== null) {
    throw new Rejection(422, 'vehicle_plates and document_numbers: only one of the two may be given');
  }
  const entities = entitiesOf(data.entity);
  const one = textField(data, 'vehicle_plate');
  const wantedPlates = [one, ...(plates ?? []), ...entities.map((entity) => entity.plate)].filter(
    (text) => text !== null,
  );
  const wantedDocument = textField(data, 'document_number') ?? documents?.[0] ?? entities[0]?.document;
  const known = knownVehicles(world, wantedPlates);
  if (wantedPlates.length > 0 && known.length === 0) return 'No vehicle has this plate';
  const user = wantedDocument === undefined ? undefined : userByDocument(world, wantedDocument);
  if (wantedDocument !== undefined && user === undefined) return 'No driver has this document number';
  return { vehicles: known, user };
}

function entitiesOf(given: unknown): { plate: string; document: string }[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given) || !given.every(isJsonObject))
    throw new Rejection(422, 'entity: must be a list of objects');
  return given.map((one) => {
    textField(one, 'helper');
    return { plate: requiredText(one, 'vehicle_plate'), document: requiredText(one, 'document_number') };
  });
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

function userByDocument(world: World, document: string): { id: number | null; name: string } | undefined {
  const wanted = digits(document);
  for (const index of world.roster.listed(world.now())) {
    if (cpfOf(world.seed, index) === wanted) return driverOf(world, index);
  }
  for (const entry of world.journal.latest<WrittenAgent>('agent').values()) {
    if (digits(entry.record.cpf) === wanted) return { id: entry.id, name: entry.record.name };
  }
  return undefined;
}
