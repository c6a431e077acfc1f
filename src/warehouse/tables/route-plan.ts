// One row per route plan; its points, their executions and items are in tables of their own.
import { baseTable, instant, integer, real, text } from '../schema/table.ts';
import { vehicle } from './vehicle.ts';

export const routePlan = baseTable({
  name: 'route_plan',
  meaning: 'Route plans with their status.',
  source: 'GET /import/route_plan',
  key: ['id'],
  retentionBy: 'date_time_end',
  columns: {
    id: integer('Identifier given by the service.'),
    status: text('Status of the plan; see route_plan_status.'),
    external_code: text('Code of the plan, set at import.'),
    source: text('Source of the route calculation.'),
    date_time_start: instant('Expected start.'),
    date_time_end: instant('Expected end.'),
    date_created: instant('When the plan was created.'),
    total_time: integer('Total time; unit not stated by the service.'),
    total_distance: real('Total distance; unit not stated by the service.'),
    total_points: integer('Number of points.'),
    total_capacity: integer('Total capacity; unit not stated by the service.'),
    route_id: integer('Route.'),
    vehicle_id: integer('Executing vehicle.', { alias: 'vehicle.id', references: vehicle }),
    vehicle_title: text('Title of the vehicle.', { from: 'vehicle.title' }),
    vehicle_plate: text('Licence plate of the vehicle.', { from: 'vehicle.plate' }),
    vehicle_capacity: integer('Capacity of the vehicle; unit not stated by the service.', { from: 'vehicle.capacity' }),
    vehicle_device_id: integer('Tracking device of the vehicle.', { from: 'vehicle.device.id' }),
    vehicle_device_serial: text('Serial number of the device.', { from: 'vehicle.device.serial' }),
    user_id: integer('Executing agent.', { alias: 'user.id' }),
    user_name: text('Name of the agent.', { from: 'user.name', personal: true }),
    user_login: text('Login of the agent.', { from: 'user.login', personal: true }),
  },
  indexes: [['external_code'], ['date_time_start'], ['vehicle_id', '_day'], ['_day'], ['status']],
  dayOf: ['date_time_start'],
  history: 'status',
});
