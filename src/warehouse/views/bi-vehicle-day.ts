// One row per vehicle and local day: use, idling and speeding, provisional or final.
import { date, integer, text, view } from '../schema/view.ts';
import { dailySummary } from '../tables/daily-summary.ts';
import { vehicle } from '../tables/vehicle.ts';
import { dayFigures, dayRows, fullDayRead } from './shared/day-figures.ts';

/** If the vehicle is not known, any read of the day counts. */
const READING = `case when summary.vehicle_id is null then ${fullDayRead()}
    else ${fullDayRead(`read.scope = 'vehicle ' || summary.vehicle_id`)} end`;

export const biVehicleDay = view({
  name: 'bi_vehicle_day',
  meaning: 'One row per vehicle and local day: distance, utilisation, idling, speeding; provisional until is_final.',
  key: ['day', 'vehicle_plate'],
  tables: { summary: dailySummary, vehicle },
  columns: {
    day: date('Local day.', 'summary.day'),
    vehicle_id: integer('Vehicle with this plate; null if none or several match.', 'summary.vehicle_id'),
    vehicle_plate: text('Licence plate, as the service names it.', 'summary.title'),
    vehicle_title: text('Title of the vehicle.', 'vehicle.title'),
    vehicle_category: text('Category of the vehicle.', 'vehicle.vehicle_category_name'),
    fleet_name: text('Fleet of the vehicle.', 'vehicle.fleet_name'),
    cost_center_name: text('Cost centre of the vehicle.', 'vehicle.cost_center_name'),
    ...dayFigures('vehicle', READING),
  },
  from: dayRows('vehicle'),
});
