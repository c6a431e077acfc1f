// One row per itinerary: the planned trip of a vehicle and a driver, with start and end.
import { baseTable, instant, integer, real, text } from '../schema/table.ts';
import { driver } from './driver.ts';
import { vehicle } from './vehicle.ts';

export const itinerary = baseTable({
  name: 'itinerary',
  meaning: 'Itineraries of vehicles and drivers.',
  source: 'GET /itinerary/',
  key: ['id'],
  retentionBy: 'date_time_end',
  columns: {
    id: integer('Identifier given by the service.'),
    description: text('Description of the itinerary.'),
    external_id: text('Identifier in other systems.'),
    vehicle_id: integer('Planned vehicle.', { alias: 'vehicle.id', references: vehicle }),
    vehicle_title: text('Title of the vehicle.', { from: 'vehicle.title' }),
    vehicle_plate: text('Licence plate of the vehicle.', { from: 'vehicle.plate' }),
    driver_id: integer('Planned driver.', { alias: 'driver.id', references: driver }),
    driver_name: text('Name of the driver.', { from: 'driver.name', personal: true }),
    date_time_start: instant('Expected start.'),
    date_time_end: instant('Expected end.'),
    date_created: instant('When the itinerary was created.'),
    date_modified: instant('When the itinerary was last changed.'),
    date_excluded: instant('When the itinerary was excluded; null while it is valid.'),
    position_start_date_created: instant('When the position at the start reached the service.', {
      from: 'position_start.date_created',
    }),
    position_start_date_time: instant('When the vehicle was at its start.', { from: 'position_start.date_time' }),
    position_start_latitude: real('Latitude at the start in degrees.', { from: 'position_start.latitude' }),
    position_start_longitude: real('Longitude at the start in degrees.', { from: 'position_start.longitude' }),
    position_end_date_created: instant('When the position at the end reached the service.', {
      from: 'position_end.date_created',
    }),
    position_end_date_time: instant('When the vehicle was at its end.', { from: 'position_end.date_time' }),
    position_end_latitude: real('Latitude at the end in degrees.', { from: 'position_end.latitude' }),
    position_end_longitude: real('Longitude at the end in degrees.', { from: 'position_end.longitude' }),
  },
  indexes: [['date_time_start'], ['date_time_end']],
});
