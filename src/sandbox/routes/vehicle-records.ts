// A vehicle as the service lists it. The odometer grows every day and the status follows the roster; all other fields
// never change.

import { deviceIds, driverIds, vehicleIds } from '../made-up/identifiers.ts';
import { personName } from '../made-up/names.ts';
import { plateOf } from '../made-up/plates.ts';
import { seededRandom } from '../made-up/seeded-random.ts';
import { dayOf, FOUNDING_DAY } from '../world/company-time.ts';
import type { World } from '../world/world.ts';

interface Named {
  id: number;
  name: string;
}

const named = (names: readonly string[]): readonly Named[] => names.map((name, i) => ({ id: i + 1, name }));

const FLEETS = named(['Urban deliveries', 'Refrigerated', 'Regional']);
const COST_CENTERS = named(['Distribution', 'Sales', 'Maintenance']);
export const costCenterOf = (index: number): Named => COST_CENTERS[index % COST_CENTERS.length] as Named;
const COLORS = named(['White', 'Silver', 'Blue', 'Red']);
const FUELS = named(['Diesel S10', 'Ethanol', 'Electric']);
const CATEGORIES = named(['Van', 'Light truck', 'Truck']);
const MODELS = named(['V100 Cargo', 'V200 Box', 'T300 Light', 'T500 Heavy']);
const MAKERS = named(['Andorinha Motors', 'Pampa Vehicles']);

export const VEHICLE_INCLUDES = [
  'fleet',
  'vehicle_model',
  'fuel_category',
  'vehicle_color',
  'vehicle_category',
] as const;

export function vehicleIdentity(seed: number, index: number) {
  const random = seededRandom(seed, 'vehicle', index);
  return {
    id: vehicleIds.of(index),
    index,
    title: `Vehicle ${String(index + 1).padStart(3, '0')}`,
    plate: plateOf(seed, index),
    capacity: random.int(6, 40) * 100,
    model: random.pick(MODELS).name,
    color: random.pick(COLORS),
    device: { id: deviceIds.of(index), serial: `DV${String(700_000 + index)}` },
  };
}

export function vehicleRecord(world: World, index: number, includes: readonly string[]): Record<string, unknown> {
  const { seed } = world;
  const identity = vehicleIdentity(seed, index);
  const createdAt = world.roster.life(index)?.createdAt ?? 0;
  const related = relatedObjects(seed, identity);
  const driver = { name: personName(seed, 'driver', index), id: driverIds.of(index) };
  return {
    id: identity.id,
    title: identity.title,
    plate: identity.plate,
    ...paperwork(seed, index),
    status: world.roster.status(index, world.now()),
    capacity: identity.capacity,
    ...meters(seed, index, dayOf(world.now())),
    ...limits(seed, index),
    responsible_name: personName(seed, 'responsible', index % 5),
    driver_id: driver.id,
    driver,
    date_created: world.instant(createdAt),
    cost_center: costCenterOf(index),
    ...Object.fromEntries(includes.map((name) => [name, related[name]])),
    vehicle_virtual_areas: [],
    daily_summary: [],
  };
}

function paperwork(seed: number, index: number): Record<string, unknown> {
  const random = seededRandom(seed, 'paperwork', index);
  const year = random.int(2014, 2022);
  return {
    chassi: `9BW${String(random.int(10_000_000, 99_999_999))}${String(index).padStart(6, '0')}`,
    renavam: String(random.int(10_000_000_000, 99_999_999_999)),
    crv: null,
    year,
    model_year: year + random.int(0, 1),
    seats: random.int(2, 3),
    axles: random.chance(0.2) ? null : random.int(2, 3),
  };
}

function meters(seed: number, index: number, today: number): Record<string, unknown> {
  const random = seededRandom(seed, 'meters', index);
  const kilometresAtStart = random.int(5_000, 90_000);
  const days = Math.max(0, today - FOUNDING_DAY);
  return {
    fuel_capacity: random.int(60, 200),
    fuel_average_intended: random.int(40, 110) / 10,
    hodometer: kilometresAtStart + days * random.int(40, 110),
    hourimeter: Math.round((random.int(300, 3_000) + days * 2.7) * 10) / 10,
  };
}

function limits(seed: number, index: number): Record<string, unknown> {
  const random = seededRandom(seed, 'limits', index);
  return {
    speed_max: random.pick([80, 90, 110]),
    speed_max_range_1: 100,
    speed_max_rain: 70,
    rpm_high: random.chance(0.3) ? null : random.int(28, 36) * 100,
    min_temperature: random.pick([-18, 2, 10]),
  };
}

function relatedObjects(seed: number, identity: ReturnType<typeof vehicleIdentity>): Record<string, unknown> {
  const random = seededRandom(seed, 'related', identity.index);
  const category = random.pick(CATEGORIES);
  const model = MODELS.find((one) => one.name === identity.model) as Named;
  return {
    fleet: random.pick(FLEETS),
    vehicle_color: identity.color,
    vehicle_model: {
      ...model,
      vehicle_model_manufacturer: { ...random.pick(MAKERS), vehicle_category: null },
    },
    fuel_category: random.pick(FUELS),
    vehicle_category: category,
  };
}
