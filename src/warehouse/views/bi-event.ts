// One row per event, with its category in words, local time, and the vehicle's fleet and cost centre.
import type { Dialect } from '../schema/dialect.ts';
import { lookupTable } from '../schema/lookups.ts';
import { date, integer, text, view } from '../schema/view.ts';
import { event } from '../tables/event.ts';
import { vehicle } from '../tables/vehicle.ts';
import { atAndLocal, offsetAt } from './shared/local-columns.ts';

/** By the begin of the day where the clocks do not change: finding the offset of each event takes several times as long. */
const hourOf = ({ secondsBetween, localHour }: Dialect): string =>
  `case when calendar.hours = 24 then ${secondsBetween('calendar.begin_at', 'event.begin_date')} / 3600
    else ${localHour('event.begin_date', offsetAt('event.begin_date'))} end`;

export const biEvent = view({
  name: 'bi_event',
  meaning:
    'One row per event of a vehicle: trips, speeding, idling, sensors. Final once bi_day_status says so for event and its day.',
  key: ['category_id', 'event_id'],
  tables: { event, vehicle, category: lookupTable('event_category') },
  columns: {
    category_id: integer('Category of the event; see event_category.', 'event.event_category'),
    category: text('Category of the event, in words; null if the code list does not have it.', 'category.name'),
    event_id: integer('Identifier, unique within the category.', 'event.id'),
    day: date('Local day on which the event began.', 'event._day'),
    hour: integer('Local hour in which the event began, 0 to 23.', hourOf),
    ...atAndLocal('begin', 'the event began', 'event.begin_date'),
    ...atAndLocal('end', 'the event ended; null while it lasts', 'event.end_date'),
    duration_seconds: integer('Duration in seconds; null while the event lasts.', ({ secondsBetween }) =>
      secondsBetween('event.begin_date', 'event.end_date'),
    ),
    distance_metres: integer('Metres travelled during the event.', 'event.distance'),
    vehicle_id: integer('Vehicle.', 'event.vehicle_id'),
    vehicle_plate: text('Licence plate of the vehicle at that time.', 'event.vehicle_plate'),
    vehicle_title: text('Title of the vehicle.', 'vehicle.title'),
    fleet_name: text('Fleet of the vehicle.', 'vehicle.fleet_name'),
    cost_center_name: text('Cost centre of the vehicle.', 'vehicle.cost_center_name'),
    driver_id: integer('Driver.', 'event.driver_id'),
    driver_name: text('Name of the driver.', 'event.driver_name'),
    begin_address: text('Address where the event began.', 'event.location_start_address'),
    end_address: text('Address where the event ended.', 'event.location_end_address'),
  },
  from: `
from event
left join event_category as category on category.id = event.event_category
left join vehicle on vehicle.id = event.vehicle_id
left join local_day as calendar on calendar.day = event._day
where event._missing_since is null`,
});
