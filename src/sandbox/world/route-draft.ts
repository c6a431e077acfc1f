// A route plan before its execution. Generated and imported plans have the same form, so that both are executed by the
// same code.
import type { Place } from '../made-up/places.ts';

export const POINT_TYPES = { Partida: 'PA', Coleta: 'CO', Entrega: 'PE', Chegada: 'CH' } as const;
export type PointType = (typeof POINT_TYPES)[keyof typeof POINT_TYPES];

export interface PointDraft {
  id: number;
  name: string;
  type: PointType;
  /** Position in the given plan, from 1. */
  order: number;
  /** Position in the driving order, from 1. */
  optimizedOrder: number;
  place: Place;
  scheduledAt: number;
  durationS: number;
  /** Distance from the previous point. */
  distanceM: number;
  externalCode: string;
  capacity: number | null;
  timeWindow: unknown;
  disablePicture: boolean | null;
  items: readonly unknown[];
}

export interface RouteDraft {
  id: number;
  /** The random key of the execution. */
  key: readonly (number | string)[];
  externalCode: string;
  source: string;
  createdAt: number;
  /** Searches show the plan from this instant on. */
  visibleAt: number;
  startAt: number;
  endAt: number;
  /** False: the plan is ready at once, without the statuses W and R. */
  isAsync: boolean;
  vehicleIndex: number | null;
  userId: number | null;
  userName: string | null;
  /** In driving order. */
  points: readonly PointDraft[];
}

const METRES_PER_SECOND = 10;

export const travelSeconds = (metres: number): number => 60 + Math.round(metres / METRES_PER_SECOND);

export const isTerminus = (type: PointType): boolean => type === 'PA' || type === 'CH';
