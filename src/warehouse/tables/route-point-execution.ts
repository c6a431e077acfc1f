// One row per execution record of a route point.
import { baseTable, instant, integer, real, text } from '../schema/table.ts';

export const routePointExecution = baseTable({
  name: 'route_point_execution',
  meaning: 'What happened at the points: place, time, evidence, reasons.',
  source: 'GET /import/route_plan with route_plan_id',
  list: 'route_points.routes_info',
  key: ['id'],
  parent: { table: 'route_point', column: 'route_point_id' },
  columns: {
    id: integer('Identifier given by the service.'),
    route_point_id: integer('Point that was executed.', { required: true, added: true }),
    latitude: real('Latitude of the execution in degrees.'),
    longitude: real('Longitude of the execution in degrees.'),
    return_date: instant('When the point was executed or returned.'),
    pictures: text('Name of the picture.'),
    signature_img: text('Name of the signature image.'),
    hodometer_picture: text('Name of the odometer picture.'),
    route_return_reason_id: integer('Reason for a return.', { alias: 'route_return_reason.id' }),
    route_return_reason_name: text('Reason for a return, in words.', {
      from: 'route_return_reason.name',
      undocumented: true,
    }),
    route_executed_reason_id: integer('Reason for an execution.', { alias: 'route_executed_reason.id' }),
    route_executed_reason_name: text('Reason for an execution, in words.', {
      from: 'route_executed_reason.name',
      undocumented: true,
    }),
  },
  indexes: [['route_point_id', 'return_date']],
});
