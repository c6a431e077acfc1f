// One row a stop of a route plan: what was planned, what happened, how late, with what proof.

import { lookupTable } from '../schema/lookups.ts';
import { boolean, integer, real, text, view } from '../schema/view.ts';
import { routePlan } from '../tables/route-plan.ts';
import { routePoint } from '../tables/route-point.ts';
import { routePointExecution } from '../tables/route-point-execution.ts';
import { vehicle } from '../tables/vehicle.ts';
import { atAndLocal, localDay } from './shared/local-columns.ts';
import { DONE, isCustomerStop, isLatestExecution, isOnTime, wasOnSite } from './shared/stops.ts';

const PLANNED = 'coalesce(point.time_scheduled, plan.date_time_start)';
const PLANNED_ORDER = (point: string): string => `coalesce(${point}.optimized_order, ${point}."order")`;

/** When another stop of the same plan was last executed on site; null where it was not. */
const OTHER_DONE = `(case when ${wasOnSite('other')} then (
      select max(visit.return_date) from route_point_execution as visit
      where visit.route_point_id = other.id and visit._missing_since is null) end)`;
const VISITED = `done.return_date is not null and ${wasOnSite('point')}`;

const items = (figure: string): string =>
  `(select ${figure} from route_point_item as item
    where item.route_point_id = point.id and item._missing_since is null)`;

export const biDelivery = view({
  name: 'bi_delivery',
  meaning:
    'One row a stop of a route plan: planned and executed, on time or late by, outcome, reason, order and evidence.',
  key: ['stop_id'],
  tables: {
    point: routePoint,
    plan: routePlan,
    done: routePointExecution,
    vehicle,
    plan_state: lookupTable('route_plan_status'),
    state: lookupTable('route_point_status'),
  },
  columns: {
    stop_id: integer('Identifier of the stop.', 'point.id'),
    stop_code: text('Identifier of the stop in the ERP.', 'point.external_code'),
    stop_name: text('Name of the stop, such as an invoice number or a customer.', 'point.name'),
    stop_kind: text(
      'start, pick-up, delivery or arrival; as the service codes it where that is something else.',
      `case upper(point.type) when 'PA' then 'start' when 'PARTIDA' then 'start'
      when 'CO' then 'pick-up' when 'COLETA' then 'pick-up' when 'PE' then 'delivery' when 'ENTREGA' then 'delivery'
      when 'CH' then 'arrival' when 'CHEGADA' then 'arrival' else point.type end`,
    ),
    is_customer_stop: boolean('False for the start and the arrival of the route.', isCustomerStop('point')),
    plan_id: integer('Identifier of the route plan.', 'point.route_plan_id'),
    plan_code: text('Identifying title of the plan, as the ERP gave it.', 'plan.external_code'),
    plan_status: text('State of the plan, in words.', 'coalesce(plan_state.name, plan.status)'),
    day: localDay('Local day that the stop was planned for.', PLANNED),
    address: text('Address of the stop.', 'point.address'),
    latitude: real('Latitude of the stop in degrees.', 'point.latitude'),
    longitude: real('Longitude of the stop in degrees.', 'point.longitude'),
    vehicle_id: integer('Executing vehicle.', 'plan.vehicle_id'),
    vehicle_plate: text('Licence plate of the vehicle.', 'coalesce(plan.vehicle_plate, vehicle.plate)'),
    vehicle_title: text('Title of the vehicle.', 'coalesce(plan.vehicle_title, vehicle.title)'),
    fleet_name: text('Fleet of the vehicle.', 'vehicle.fleet_name'),
    cost_center_name: text('Cost centre of the vehicle.', 'vehicle.cost_center_name'),
    agent_id: integer('Executing agent.', 'plan.user_id'),
    agent_name: text('Name of the agent.', 'plan.user_name'),
    ...atAndLocal('planned', 'the stop was planned for; the start of the plan where it had no time', PLANNED),
    ...atAndLocal('executed', 'it was executed or returned; null while it is open', 'done.return_date'),
    late_by_seconds: integer(
      'Seconds from the planned to the executed time, negative when early; null while open, without a planned time, ' +
        'or recorded by the office.',
      ({ secondsBetween }) =>
        `case when ${wasOnSite('point')} then ${secondsBetween('point.time_scheduled', 'done.return_date')} end`,
    ),
    is_on_time: boolean(
      'True where it was executed no later than planned; null where late_by_seconds is.',
      isOnTime('point', 'done'),
    ),
    is_overdue: boolean(
      'True while it is open and its planned time has passed.',
      ({ now }) => `(coalesce(point.status, 'P') = 'P' and done.id is null and ${PLANNED} < ${now})`,
    ),
    status: text('State of the stop: P, R, E, D or M; see route_point_status.', 'point.status'),
    outcome: text('State of the stop, in words.', 'coalesce(state.name, point.status)'),
    is_done: boolean('True once it was performed or delivered.', `(coalesce(point.status, 'P') in ${DONE})`),
    is_returned: boolean('True where the agent came back with it.', `(coalesce(point.status, 'P') = 'D')`),
    attempts: integer(
      'Number of executions recorded.',
      `(select cast(count(*) as integer) from route_point_execution as visit
      where visit.route_point_id = point.id and visit._missing_since is null)`,
    ),
    is_first_attempt_success: boolean(
      'True where it was done and no attempt was returned before; false where it was returned; null while open.',
      `case when point.status in ${DONE} then not exists (
        select 1 from route_point_execution as visit where visit.route_point_id = point.id
        and visit._missing_since is null and visit.route_return_reason_id is not null)
      when point.status = 'D' then false end`,
    ),
    return_reason: text('Why it was returned.', 'done.route_return_reason_name'),
    executed_reason: text('Why it was recorded by hand.', 'done.route_executed_reason_name'),
    planned_order: integer('Place in the planned order, after optimisation.', PLANNED_ORDER('point')),
    given_order: integer('Place in the order that the ERP gave.', 'point."order"'),
    executed_order: integer(
      'Place in the order in which the stops were executed, from 1; null while open or recorded by the office.',
      `case when ${VISITED} then 1 + (
        select cast(count(*) as integer) from route_point as other
        where other.route_plan_id = point.route_plan_id and other._missing_since is null
        and ${OTHER_DONE} < done.return_date) end`,
    ),
    is_in_planned_order: boolean(
      'False where a stop that was planned later was visited before it; null where executed_order is.',
      `case when ${VISITED} then not exists (
        select 1 from route_point as other
        join route_point_execution as visit on visit.route_point_id = other.id and visit._missing_since is null
        where other.route_plan_id = point.route_plan_id and other._missing_since is null
        and ${wasOnSite('other')} and ${PLANNED_ORDER('other')} > ${PLANNED_ORDER('point')}
        and visit.return_date < done.return_date) end`,
    ),
    has_picture: boolean('True where a picture was taken.', `(coalesce(done.pictures, '') <> '')`),
    has_signature: boolean('True where somebody signed.', `(coalesce(done.signature_img, '') <> '')`),
    has_evidence: boolean(
      'True where there is a picture, a signature or a picture of the odometer.',
      `(coalesce(done.pictures, '') <> '' or coalesce(done.signature_img, '') <> ''
      or coalesce(done.hodometer_picture, '') <> '')`,
    ),
    item_count: integer('Number of items of the stop.', items('cast(count(*) as integer)')),
    item_quantity: real('Quantity of all items.', items('sum(item.quantity)')),
    item_value: real('Value of all items.', items('sum(item.value)')),
  },
  from: `
from route_point as point
left join route_plan as plan on plan.id = point.route_plan_id
left join route_point_execution as done on ${isLatestExecution('point.id')}
left join vehicle on vehicle.id = plan.vehicle_id
left join route_plan_status as plan_state on plan_state.code = plan.status
left join route_point_status as state on state.code = point.status
where point._missing_since is null and plan._missing_since is null`,
});
