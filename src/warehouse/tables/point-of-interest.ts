// One row per point of interest: a place with a title, such as a customer or a fuel station.
import { baseTable, integer, real, text } from '../schema/table.ts';

export const pointOfInterest = baseTable({
  name: 'point_of_interest',
  meaning: 'Points of interest of the account.',
  source: 'GET /point_of_interest/',
  key: ['id'],
  columns: {
    id: integer('Identifier given by the service.'),
    title: text('Title shown on the map.'),
    responsible_name: text('Person responsible for the place.', { personal: true }),
    phone: text('Telephone number.', { personal: true }),
    latitude: real('Latitude in degrees.'),
    longitude: real('Longitude in degrees.'),
    migration_id: text('Identifier from an earlier system.'),
    point_of_interest_category_id: integer('Category; see point_of_interest_category.', {
      from: 'point_of_interest_category.id',
    }),
    point_of_interest_category_name: text('Name of the category.', { from: 'point_of_interest_category.name' }),
  },
});
