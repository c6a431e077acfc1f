// The names of the service's calls, used by the ledger, the faults and the added records.

export const CALL_NAMES = [
  'login',
  'renew',
  'checklist',
  'checklists',
  'checklist-answers',
  'checklist-picture',
  'import-route-plan',
  'route-plans',
  'route-plan',
  'route-point',
  'points-of-interest',
  'create-point-of-interest',
  'change-point-of-interest',
  'create-itinerary',
  'change-itinerary',
  'itinerary',
  'itineraries',
  'create-agent',
  'drivers',
  'vehicles',
  'daily-summary',
  'events',
] as const;

export type CallName = (typeof CALL_NAMES)[number];
