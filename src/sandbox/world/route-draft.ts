// A route plan before anyone drives it: the same form for generated and for imported plans, so that one
// execution serves both.
import type { Place } from '../made-up/places.ts';

export const POINT_TYPES = { Partida: 'PA', Coleta: 'CO', Entrega: 'PE', Chegada: 'CH' } as const;
export type PointType = (typeof POINT_TYPES)[keyof typeof POINT_TYPES];

export interface PointDraft {
  id: number;
  name: string;
  type: PointType;
  /** Place in the plan as given, from 1. */
  order: number;
  /** Place in the order that is driven, from 1. */
  optimizedOrder: number;
  place: Place;
  scheduledAt: number;
  durationS: number;
  /** From the point before it. */
  distanceM: number;
  externalCode: string;
  capacity: number | null;
  timeWindow: unknown;
  disablePicture: boolean | null;
  items: readonly unknown[];
}

export interface RouteDraft {
  id: number;
  /** Names the chance of its execution. */
  key: readonly (number | string)[];
  externalCode: string;
  source: string;
  createdAt: number;
  /** Searches show it from here on. */
  visibleAt: number;
  startAt: number;
  endAt: number;
  /** False: it was ready at once, without W and R. */
  isAsync: boolean;
  vehicleIndex: number | null;
  userId: number | null;
  userName: string | null;
  /** In the order that is driven. */
  points: readonly PointDraft[];
}

const METRES_PER_SECOND = 10;

export const travelSeconds = (metres: number): number => 60 + Math.round(metres / METRES_PER_SECOND);

export const isTerminus = (type: PointType): boolean => type === 'PA' || type === 'CH';
