// One row per tracked event. Identifiers are unique within a category only.
import { baseTable, instant, integer, text } from '../schema/table.ts';
import { driver } from './driver.ts';
import { vehicle } from './vehicle.ts';

export const event = baseTable({
  name: 'event',
  meaning: 'Tracked events of vehicles: trips, speeding, idling, sensors and the like.',
  source: 'GET /event/',
  key: ['event_category', 'id'],
  retentionBy: 'begin_date',
  columns: {
    event_category: integer('Category of the event; see event_category.'),
    id: integer('Identifier given by the service, unique within the category.'),
    begin_date: instant('When the event began.'),
    end_date: instant('When the event ended; null while it lasts.'),
    distance: integer('Distance travelled during the event, in metres.'),
    vehicle_id: integer('Vehicle.', { from: 'vehicle.id', references: vehicle }),
    vehicle_plate: text('Licence plate of the vehicle at that time.', { from: 'vehicle.plate' }),
    vehicle_model: text('Model of the vehicle.', { from: 'vehicle.model' }),
    driver_id: integer('Driver.', { from: 'driver.id', references: driver }),
    driver_name: text('Name of the driver.', { from: 'driver.name', personal: true }),
    location_start_address: text('Address where the event began.', { from: 'location_start.address', personal: true }),
    location_end_address: text('Address where the event ended.', { from: 'location_end.address', personal: true }),
  },
  indexes: [
    // Loads use this index too: they search earlier events of a vehicle.
    ['vehicle_id', 'begin_date'],
    { columns: ['_day', 'event_category'], afterFirstFill: true },
  ],
  dayOf: ['begin_date'],
  partitionBy: 'begin_date',
});
