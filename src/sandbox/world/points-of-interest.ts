// Points of interest: the customers of the generated routes, and those that clients created or changed.

import { pointOfInterestIds } from '../made-up/identifiers.ts';
import { businessName, personName } from '../made-up/names.ts';
import { seededRandom } from '../made-up/seeded-random.ts';
import { customerPlace } from './daily-routes.ts';
import type { World } from './world.ts';

export const POINT_CATEGORIES = [
  'House',
  'Company',
  'Commerce',
  'Farm',
  'Boarding point',
  'Construction site',
  'School',
  'Fuel station',
  'Workshop',
  'Supplier',
] as const;

export interface PointOfInterest {
  id: number;
  title: string;
  responsible_name: string | null;
  phone: string | null;
  latitude: number;
  longitude: number;
  migration_id: null;
  categoryId: number;
}

/** Number of customers that are points of interest. */
const REGISTERED = 60;

function generatedPoint(seed: number, index: number): PointOfInterest {
  const random = seededRandom(seed, 'point of interest', index);
  const { latitude, longitude } = customerPlace(seed, index);
  return {
    id: pointOfInterestIds.of(index),
    title: businessName(seed, index),
    responsible_name: personName(seed, 'customer', index),
    phone: random.chance(0.6) ? `+55 11 3${random.int(100, 999)}-${random.int(1_000, 9_999)}` : null,
    latitude,
    longitude,
    migration_id: null,
    categoryId: index % POINT_CATEGORIES.length,
  };
}

export function allPointsOfInterest(world: World): PointOfInterest[] {
  const written = world.journal.latest<PointOfInterest>('point_of_interest');
  const points = new Map<number, PointOfInterest>();
  for (let index = 0; index < REGISTERED; index++) {
    const point = generatedPoint(world.seed, index);
    points.set(point.id, point);
  }
  for (const entry of written.values()) points.set(entry.id, entry.record);
  return [...points.values()];
}

export function pointOfInterestRecord(point: PointOfInterest, includes: readonly string[]) {
  const { categoryId, ...fields } = point;
  if (!includes.includes('point_of_interest_category')) return fields;
  return { ...fields, point_of_interest_category: { id: categoryId, name: POINT_CATEGORIES[categoryId] } };
}
