// One row per driver and local day: the figures of a vehicle day, over all vehicles of the driver.
import { date, integer, text, view } from '../schema/view.ts';
import { dailySummary } from '../tables/daily-summary.ts';
import { driver } from '../tables/driver.ts';
import { dayFigures, dayRows, fullDayRead } from './shared/day-figures.ts';

export const biDriverDay = view({
  name: 'bi_driver_day',
  meaning: 'One row per driver and local day: distance, idling, speeding; provisional until is_final.',
  key: ['day', 'driver_name'],
  tables: { summary: dailySummary, driver },
  columns: {
    day: date('Local day.', 'summary.day'),
    driver_id: integer('Driver with this label; null if none or several match.', 'summary.driver_id'),
    driver_name: text('Label of the driver, as the service names it.', 'summary.title'),
    department_name: text('Department of the driver.', 'driver.department_name'),
    cost_center_name: text('Cost centre of the driver.', 'driver.cost_center_name'),
    ...dayFigures('driver', fullDayRead(`read.scope = 'drivers'`)),
  },
  from: dayRows('driver'),
});
