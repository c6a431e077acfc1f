// SQL shared by the views of stops and plans: which execution counts, and what a stop's status means. In the queries,
// `point` is the stop and `done` its latest execution.
import type { Dialect } from '../../schema/dialect.ts';
import { integer, text } from '../../schema/view.ts';

/** An execution without a time counts as the earliest. */
const whenDone = (execution: string): string =>
  `(coalesce(${execution}.return_date, '0001-01-01T00:00:00.000Z'), ${execution}.id)`;

/**
 * Join condition for the latest execution of a stop that has not vanished. The `not exists` refers to `done` alone, because
 * PostgreSQL then finds all of them in one pass instead of stop by stop.
 */
export const isLatestExecution = (stopId: string): string => `done.route_point_id = ${stopId}
  and done._missing_since is null and not exists (
    select 1 from route_point_execution as later
    where later.route_point_id = done.route_point_id and later._missing_since is null
    and ${whenDone('later')} > ${whenDone('done')})`;

/** True unless the stop is the start or the arrival of the route. The service sends codes or names. */
export const isCustomerStop = (point: string): string =>
  `(upper(coalesce(${point}.type, '')) not in ('PA', 'PARTIDA', 'CH', 'CHEGADA'))`;

/** The office records a manual outcome later, so its time is not the time of the visit. */
export const wasOnSite = (point: string): string => `coalesce(${point}.status, '') <> 'M'`;

/**
 * Null if there is nothing to compare, and for a returned stop: nothing was delivered on time or late. The tolerance is
 * `stops.late_after` in the configuration.
 */
export const isOnTime = (point: string, done: string, { secondsBetween }: Dialect): string =>
  `(case when ${wasOnSite(point)} and coalesce(${point}.status, '') <> 'D'
    then ${secondsBetween(`${point}.time_scheduled`, `${done}.return_date`)}
      <= (select max(rule.late_after_seconds) from stop_rule as rule) end)`;

export const DONE = `('R', 'E', 'M')`;

/** The executing vehicle and agent, in queries with `plan` and `vehicle`. */
export const CREW = {
  vehicle_id: integer('Executing vehicle.', 'plan.vehicle_id'),
  vehicle_plate: text('Licence plate of the vehicle.', 'coalesce(plan.vehicle_plate, vehicle.plate)'),
  vehicle_title: text('Title of the vehicle.', 'coalesce(plan.vehicle_title, vehicle.title)'),
  fleet_name: text('Fleet of the vehicle.', 'vehicle.fleet_name'),
  cost_center_name: text('Cost centre of the vehicle.', 'vehicle.cost_center_name'),
  agent_id: integer('Executing agent.', 'plan.user_id'),
  agent_name: text('Name of the agent.', 'plan.user_name'),
};
