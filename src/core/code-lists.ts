// The code lists of the service, as data. Requests are validated against them, and the warehouse has a lookup table for
// each. Records are not validated against them: an unknown code is stored as it is.

export interface CodedName {
  readonly code: string;
  readonly name: string;
}

export interface NumberedName {
  readonly id: number;
  readonly name: string;
}

export const EVENT_CATEGORIES: readonly NumberedName[] = [
  { id: 1, name: 'Trip' },
  { id: 2, name: 'Speeding' },
  { id: 3, name: 'Movement in fence' },
  { id: 4, name: 'Out of working hours' },
  { id: 5, name: 'Approach' },
  { id: 6, name: 'Idle' },
  { id: 7, name: 'Card identification' },
  { id: 8, name: 'Input sensor 1' },
  { id: 9, name: 'Input sensor 2' },
  { id: 10, name: 'Main power disconnection' },
  { id: 11, name: 'Harsh acceleration' },
  { id: 12, name: 'Harsh braking' },
  { id: 13, name: 'Sharp turn' },
  { id: 14, name: 'Work shift' },
  { id: 22, name: 'End of shift' },
  { id: 23, name: 'Trip restart' },
  { id: 24, name: 'Panic button' },
  { id: 25, name: 'Invalid card identification' },
  { id: 26, name: 'Maximum RPM exceeded' },
  { id: 27, name: 'Vehicle out of gear' },
  { id: 28, name: 'Minimum temperature exceeded' },
  { id: 29, name: 'Maximum temperature exceeded' },
  { id: 30, name: 'Custom data field' },
  { id: 31, name: 'Passenger identification' },
];

export const POINT_OF_INTEREST_CATEGORIES: readonly NumberedName[] = [
  { id: 0, name: 'House' },
  { id: 1, name: 'Company' },
  { id: 2, name: 'Commerce' },
  { id: 3, name: 'Farm' },
  { id: 4, name: 'Boarding point' },
  { id: 5, name: 'Construction site' },
  { id: 6, name: 'School' },
  { id: 7, name: 'Fuel station' },
  { id: 8, name: 'Workshop' },
  { id: 9, name: 'Supplier' },
];

export const ROUTE_PLAN_STATUSES: readonly CodedName[] = [
  { code: 'P', name: 'Awaiting execution' },
  { code: 'E', name: 'In execution' },
  { code: 'C', name: 'Completed' },
  { code: 'W', name: 'Awaiting optimization' },
  { code: 'I', name: 'Optimization failed' },
  { code: 'R', name: 'Optimizing' },
];

export const ROUTE_POINT_STATUSES: readonly CodedName[] = [
  { code: 'P', name: 'Planned' },
  { code: 'R', name: 'Performed' },
  { code: 'E', name: 'Delivered' },
  { code: 'D', name: 'Returned' },
  { code: 'M', name: 'Performed manually' },
];

export const VEHICLE_STATUSES: readonly CodedName[] = [
  { code: 'A', name: 'Active' },
  { code: 'B', name: 'Blocked' },
  { code: 'C', name: 'Cancelled' },
];

export const CNH_CATEGORIES: readonly NumberedName[] = [
  { id: 1, name: 'A' },
  { id: 2, name: 'B' },
  { id: 3, name: 'C' },
  { id: 4, name: 'D' },
  { id: 5, name: 'E' },
  { id: 6, name: 'AB' },
  { id: 7, name: 'AC' },
  { id: 8, name: 'AD' },
  { id: 9, name: 'AE' },
];
