// Invented places: coordinates within São Paulo and addresses with common street names.
import { type Key, type Random, seededRandom } from './seeded-random.ts';

export const CITY = { south: -23.7, north: -23.45, west: -46.8, east: -46.45 } as const;

export type Place = ReturnType<typeof placeFor>;

const STREETS = [
  'Rua das Acácias',
  'Rua dos Ipês',
  'Avenida Central',
  'Rua do Comércio',
  'Avenida das Nações',
  'Rua da Paz',
  'Rua das Flores',
  'Avenida Brasil',
  'Rua Sete de Setembro',
  'Travessa do Porto',
  'Rua Boa Vista',
] as const;

const DISTRICTS = ['Centro', 'Jardim América', 'Vila Nova', 'Bela Vista', 'Santo Antônio', 'Vila Mariana'] as const;

export function placeFor(...key: Key) {
  const random = seededRandom('place', ...key);
  return { latitude: latitude(random), longitude: longitude(random), address: address(random) };
}

/** Straight-line distance in metres; exact enough for a city. */
export function metresBetween(a: Place, b: Place): number {
  const north = (a.latitude - b.latitude) * 111_320;
  const east = (a.longitude - b.longitude) * 102_050;
  return Math.round(Math.hypot(north, east));
}

export const roundCoordinate = (value: number): number => Math.round(value * 1e6) / 1e6;

const latitude = (random: Random): number => roundCoordinate(CITY.south + random.next() * (CITY.north - CITY.south));

const longitude = (random: Random): number => roundCoordinate(CITY.west + random.next() * (CITY.east - CITY.west));

const address = (random: Random): string =>
  `${random.pick(STREETS)}, ${random.int(1, 2_400)} - ${random.pick(DISTRICTS)}, São Paulo - SP`;
