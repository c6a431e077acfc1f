// One row per vehicle or driver and local day. The service's rows have neither day nor identifier: the day is the requested
// day, and the identifier is found by the title.
import { baseTable, date, integer, real, text } from '../schema/table.ts';
import { driver } from './driver.ts';
import { vehicle } from './vehicle.ts';

export const dailySummary = baseTable({
  name: 'daily_summary',
  meaning: 'Usage figures of each vehicle and each driver per local day.',
  source: 'GET /daily_summary/',
  key: ['day', 'subject', 'title'],
  retentionBy: 'day',
  columns: {
    day: date('Local day.', { added: true }),
    subject: text('vehicle or driver.', { added: true }),
    title: text('Plate of the vehicle or label of the driver, as the service names it.', { personal: true }),
    vehicle_id: integer('Vehicle with this title; null if none or several match.', {
      added: true,
      references: vehicle,
    }),
    driver_id: integer('Driver with this title; null if none or several match.', { added: true, references: driver }),
    count: real('Number of records behind the figures.'),
    count_travel: real('Trips.'),
    count_in_moviment: real('Times in movement.'),
    count_ignition_on: real('Times the ignition was on.'),
    count_ignition_off: real('Times the ignition was off.'),
    count_out_of_work: real('Times out of working hours.'),
    count_high_speed: real('Times above the speed limit.'),
    count_high_speed_range_1: real('Times above the limit, first range.'),
    count_high_speed_range_2: real('Times above the limit, second range.'),
    total_distance: real('Distance travelled; unit not stated by the service.'),
    total_distance_out_of_work: real('Distance travelled out of working hours; unit not stated by the service.'),
    total_time_in_moviment: real('Time in movement; unit not stated by the service.'),
    total_time_in_ignition_on: real('Time with the ignition on; unit not stated by the service.'),
    total_time_in_ignition_off: real('Time with the ignition off; unit not stated by the service.'),
    total_time_out_of_work: real('Time out of working hours; unit not stated by the service.'),
    total_time_in_high_speed: real('Time above the speed limit; unit not stated by the service.'),
    total_time_rpm_economy: real('Time in the economical engine speed range; unit not stated by the service.'),
    total_time_rpm_high: real('Time at high engine speed; unit not stated by the service.'),
    total_time_rpm_neutral: real('Time in neutral; unit not stated by the service.'),
    total_time_rpm_max: real('Time at the highest engine speed; unit not stated by the service.'),
    speed_max: real('Highest speed; unit not stated by the service.'),
    speed_average: real('Average speed; unit not stated by the service.'),
  },
  indexes: [
    ['vehicle_id', 'day'],
    ['driver_id', 'day'],
  ],
  revisions: 'daily_summary_revision',
});
