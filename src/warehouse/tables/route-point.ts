// One row per point of a route plan.
import { baseTable, boolean, instant, integer, json, real, text } from '../schema/table.ts';

export const routePoint = baseTable({
  name: 'route_point',
  meaning: 'Points of the route plans, in planned and optimised order.',
  source: 'GET /import/route_plan with route_plan_id',
  list: 'route_points',
  key: ['id'],
  parent: { table: 'route_plan', column: 'route_plan_id' },
  columns: {
    id: integer('Identifier given by the service.'),
    route_plan_id: integer('Plan that the point belongs to.', { required: true, added: true }),
    name: text('Identifier of the stop, such as an invoice number or a customer.', { personal: true }),
    type: text('Kind of point: start, pick-up, delivery or arrival, as the service codes it.'),
    order: integer('Planned order.'),
    optimized_order: integer('Order after optimisation.'),
    address: text('Address.', { personal: true, undocumented: true }),
    latitude: real('Latitude in degrees.'),
    longitude: real('Longitude in degrees.'),
    status: text('Status of the point; see route_point_status.'),
    time_scheduled: instant('Scheduled time.'),
    duration: integer('Planned duration; unit not stated by the service.'),
    distance: real('Planned distance; unit not stated by the service.'),
    external_code: text('Identifier in the third-party system.'),
    capacity: integer('Capacity that the point needs; unit not stated by the service.'),
    time_window: json('Time window for the execution.'),
    plan_start: instant('Start of the plan; null if the point has a scheduled time.', { added: true }),
    disable_picture: boolean('True if no picture is requested.'),
  },
  indexes: [['route_plan_id'], ['_day']],
  dayOf: ['time_scheduled', 'plan_start'],
  history: 'status',
});
