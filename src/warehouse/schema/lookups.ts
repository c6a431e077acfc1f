// The service's code lists as tables, so that BI can join a code to its name.
import * as codes from '../../core/code-lists.ts';
import { controlTable, integer, type Table, text } from './table.ts';

export interface Lookup {
  table: Table;
  rows: readonly object[];
}

const lookup = (name: string, meaning: string, entries: readonly object[]): Lookup => {
  const key = 'id' in (entries[0] ?? {}) ? 'id' : 'code';
  const table = controlTable({
    name,
    meaning,
    key: [key],
    columns: {
      [key]: key === 'id' ? integer('Number used by the service.') : text('Code used by the service.'),
      name: text('Meaning of the code.', { required: true }),
    },
  });
  return { table, rows: entries };
};

export const lookups: readonly Lookup[] = [
  lookup('event_category', 'Categories of events.', codes.EVENT_CATEGORIES),
  lookup('point_of_interest_category', 'Categories of points of interest.', codes.POINT_OF_INTEREST_CATEGORIES),
  lookup('route_plan_status', 'Statuses of a route plan.', codes.ROUTE_PLAN_STATUSES),
  lookup('route_point_status', 'Statuses of a route point.', codes.ROUTE_POINT_STATUSES),
  lookup('vehicle_status', 'Statuses of a vehicle.', codes.VEHICLE_STATUSES),
  lookup('cnh_category', 'Categories of the driving licence.', codes.CNH_CATEGORIES),
];

export function lookupTable(name: string): Table {
  const found = lookups.find(({ table }) => table.name === name);
  if (found === undefined) throw new TypeError(`${name} is not a code list`);
  return found.table;
}
