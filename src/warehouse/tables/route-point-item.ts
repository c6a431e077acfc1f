// One row per item of a route point. Items have no identifier: their position in the list is their key.
import { baseTable, integer, real, text } from '../schema/table.ts';

export const routePointItem = baseTable({
  name: 'route_point_item',
  meaning: 'Items to be delivered or collected at the points.',
  source: 'GET /import/route_plan with route_plan_id',
  list: 'route_points.route_point_items',
  key: ['route_point_id', 'position'],
  parent: { table: 'route_point', column: 'route_point_id' },
  columns: {
    route_point_id: integer('Point that the item belongs to.', { added: true }),
    position: integer('Position in the list of the point, from 0.', { added: true }),
    external_code: text('Value used for load checking.'),
    value: real('Total value, a floating-point number: round sums to cents; currency not stated by the service.'),
    description: text('Description.'),
    quantity: real('Quantity; unit not stated by the service.'),
    capacity: integer('Capacity that the item needs; unit not stated by the service.'),
  },
});
