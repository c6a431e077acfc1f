// One row per local day, vehicle and category, for totals: it has a thousandth of the rows of bi_event.

import { eventDay } from '../control/event-days.ts';
import { lookupTable } from '../schema/lookups.ts';
import { date, integer, text, view } from '../schema/view.ts';
import { vehicle } from '../tables/vehicle.ts';

export const biEventDay = view({
  name: 'bi_event_day',
  meaning:
    'Events per local day, vehicle and category: number, duration, distance. The totals of bi_event, much faster. Final once bi_day_status says so for event and the day.',
  key: ['day', 'vehicle_id', 'category_id'],
  tables: { cell: eventDay, vehicle, category: lookupTable('event_category') },
  columns: {
    day: date('Local day on which the events began.', 'cell.day'),
    vehicle_id: integer('Vehicle; null for events without one.', 'nullif(cell.vehicle_id, 0)'),
    vehicle_plate: text('Licence plate of the vehicle now.', 'vehicle.plate'),
    vehicle_title: text('Title of the vehicle.', 'vehicle.title'),
    fleet_name: text('Fleet of the vehicle.', 'vehicle.fleet_name'),
    cost_center_name: text('Cost centre of the vehicle.', 'vehicle.cost_center_name'),
    category_id: integer('Category of the events; see event_category.', 'cell.event_category'),
    category: text('Category of the events, in words; null if the code list does not have it.', 'category.name'),
    events: integer('Number of events.', 'cell.events'),
    duration_seconds: integer(
      'Seconds that the events lasted in total; an event that lasts counts once it has ended.',
      'cell.duration_seconds',
    ),
    distance_metres: integer(
      'Metres travelled during the events; a distance of more than a million kilometres counts as 0.',
      'cell.distance_metres',
    ),
  },
  from: `
from event_day as cell
left join event_category as category on category.id = cell.event_category
left join vehicle on vehicle.id = cell.vehicle_id
where cell.events > 0`,
});
