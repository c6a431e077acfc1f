// The 24 categories of the event query, and how a vehicle produces each: how many on a working day, how long, and
// whether on a leg or at a stop. Trips are the legs themselves and have no rate.

export interface EventCategory {
  id: number;
  name: string;
  /** Expected number per vehicle and working day. */
  perDay: number;
  where: 'leg' | 'stop' | 'shift';
  /** Longest duration in seconds; 0 for an instant. */
  longestS: number;
}

export const TRIP = 1;
export const SPEEDING = 2;
export const OUT_OF_HOURS = 4;
export const HARSH_RPM = 26;

export const EVENT_CATEGORIES: readonly EventCategory[] = [
  { id: TRIP, name: 'Trip', perDay: 0, where: 'leg', longestS: 0 },
  { id: SPEEDING, name: 'Speeding', perDay: 1.6, where: 'leg', longestS: 120 },
  { id: 3, name: 'Movement in fence', perDay: 0.6, where: 'leg', longestS: 600 },
  { id: OUT_OF_HOURS, name: 'Out of working hours', perDay: 0.3, where: 'leg', longestS: 900 },
  { id: 5, name: 'Approach', perDay: 1, where: 'leg', longestS: 60 },
  { id: 6, name: 'Idle', perDay: 2, where: 'stop', longestS: 900 },
  { id: 7, name: 'Card identification', perDay: 1, where: 'shift', longestS: 0 },
  { id: 8, name: 'Input sensor 1', perDay: 0.7, where: 'stop', longestS: 300 },
  { id: 9, name: 'Input sensor 2', perDay: 0.5, where: 'stop', longestS: 300 },
  { id: 10, name: 'Main power disconnection', perDay: 0.08, where: 'stop', longestS: 1_800 },
  { id: 11, name: 'Harsh acceleration', perDay: 1.5, where: 'leg', longestS: 5 },
  { id: 12, name: 'Harsh braking', perDay: 1.8, where: 'leg', longestS: 5 },
  { id: 13, name: 'Sharp turn', perDay: 1.2, where: 'leg', longestS: 5 },
  { id: 14, name: 'Work shift', perDay: 1, where: 'shift', longestS: 30_000 },
  { id: 22, name: 'End of shift', perDay: 1, where: 'shift', longestS: 0 },
  { id: 23, name: 'Trip restart', perDay: 0.5, where: 'leg', longestS: 0 },
  { id: 24, name: 'Panic button', perDay: 0.06, where: 'stop', longestS: 0 },
  { id: 25, name: 'Invalid card identification', perDay: 0.15, where: 'stop', longestS: 0 },
  { id: HARSH_RPM, name: 'Maximum RPM exceeded', perDay: 0.8, where: 'leg', longestS: 30 },
  { id: 27, name: 'Vehicle out of gear', perDay: 0.4, where: 'leg', longestS: 60 },
  { id: 28, name: 'Minimum temperature exceeded', perDay: 0.15, where: 'stop', longestS: 1_200 },
  { id: 29, name: 'Maximum temperature exceeded', perDay: 0.15, where: 'leg', longestS: 1_200 },
  { id: 30, name: 'Custom data field', perDay: 0.3, where: 'stop', longestS: 0 },
  { id: 31, name: 'Passenger identification', perDay: 0.5, where: 'stop', longestS: 0 },
];

export const EVENT_CATEGORY_IDS: ReadonlySet<number> = new Set(EVENT_CATEGORIES.map((one) => one.id));
