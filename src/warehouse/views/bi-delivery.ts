// One row per stop of a route plan: plan, execution, delay and evidence.
import { lookupTable } from '../schema/lookups.ts';
import { boolean, date, integer, real, text, view } from '../schema/view.ts';
import { routePlan } from '../tables/route-plan.ts';
import { routePoint } from '../tables/route-point.ts';
import { routePointExecution } from '../tables/route-point-execution.ts';
import { vehicle } from '../tables/vehicle.ts';
import { atAndLocal } from './shared/local-columns.ts';
import { CREW, DONE, isCustomerStop, isLatestExecution, isOnTime, wasOnSite } from './shared/stops.ts';

const PLANNED = 'coalesce(point.time_scheduled, plan.date_time_start)';
const PLANNED_ORDER = (point: string): string => `coalesce(${point}.optimized_order, ${point}."order")`;

/** When another stop of the same plan was last executed on site; null if it was not. */
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
    'One row per stop of a route plan: planned and executed time, delay, outcome, reason, order and evidence. Final once bi_day_status says so for route_plan and the day of the plan in bi_route_plan.',
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
      'start, pick-up, delivery or arrival; any other code of the service unchanged.',
      `case upper(point.type) when 'PA' then 'start' when 'PARTIDA' then 'start'
      when 'CO' then 'pick-up' when 'COLETA' then 'pick-up' when 'PE' then 'delivery' when 'ENTREGA' then 'delivery'
      when 'CH' then 'arrival' when 'CHEGADA' then 'arrival' else point.type end`,
    ),
    is_customer_stop: boolean('False for the start and the arrival of the route.', isCustomerStop('point')),
    plan_id: integer('Identifier of the route plan.', 'point.route_plan_id'),
    plan_code: text('Code of the plan in the ERP.', 'plan.external_code'),
    plan_status: text('Status of the plan, in words.', 'coalesce(plan_state.name, plan.status)'),
    day: date('Local day that the stop was planned for.', 'point._day'),
    address: text('Address of the stop.', 'point.address'),
    latitude: real('Latitude of the stop in degrees.', 'point.latitude'),
    longitude: real('Longitude of the stop in degrees.', 'point.longitude'),
    ...CREW,
    ...atAndLocal('planned', 'the stop was planned, or the start of the plan if the stop has no time', PLANNED),
    ...atAndLocal('executed', 'the stop was executed or returned; null while it is open', 'done.return_date'),
    late_by_seconds: integer(
      'Seconds from the planned to the executed time, negative if early; null while open, without a planned time, ' +
        'or recorded by the office.',
      ({ secondsBetween }) =>
        `case when ${wasOnSite('point')} then ${secondsBetween('point.time_scheduled', 'done.return_date')} end`,
    ),
    is_on_time: boolean(
      'True if the stop was executed at most `stops.late_after` (default 15 minutes) later than planned; null if late_by_seconds is null or the stop was returned.',
      (dialect) => isOnTime('point', 'done', dialect),
    ),
    is_overdue: boolean(
      'True while the stop is open and its planned time has passed.',
      ({ now }) => `(coalesce(point.status, 'P') = 'P' and done.id is null and ${PLANNED} < ${now})`,
    ),
    status: text('Status of the stop: P, R, E, D or M; see route_point_status.', 'point.status'),
    outcome: text('Status of the stop, in words.', 'coalesce(state.name, point.status)'),
    is_done: boolean('True once the stop was performed or delivered.', `(coalesce(point.status, 'P') in ${DONE})`),
    is_returned: boolean('True if the agent returned the delivery.', `(coalesce(point.status, 'P') = 'D')`),
    attempts: integer(
      'Number of executions recorded.',
      `(select count(*) from route_point_execution as visit
      where visit.route_point_id = point.id and visit._missing_since is null)`,
    ),
    is_first_attempt_success: boolean(
      'True if the stop is done and no earlier attempt was returned; false if it was returned; null while open.',
      `case when point.status in ${DONE} then not exists (
        select 1 from route_point_execution as visit where visit.route_point_id = point.id
        and visit._missing_since is null and visit.route_return_reason_id is not null)
      when point.status = 'D' then false end`,
    ),
    return_reason: text('Why the delivery was returned.', 'done.route_return_reason_name'),
    executed_reason: text('Why the outcome was recorded by hand.', 'done.route_executed_reason_name'),
    planned_order: integer('Position in the planned order, after optimisation.', PLANNED_ORDER('point')),
    given_order: integer('Position in the order that the ERP sent.', 'point."order"'),
    executed_order: integer(
      'Position in the order of execution, from 1; null while open or recorded by the office.',
      `case when ${VISITED} then 1 + (
        select count(*) from route_point as other
        where other.route_plan_id = point.route_plan_id and other._missing_since is null
        and ${OTHER_DONE} < done.return_date) end`,
    ),
    is_in_planned_order: boolean(
      'False if a stop planned for later was visited first; null if executed_order is null.',
      `case when ${VISITED} then not exists (
        select 1 from route_point as other
        join route_point_execution as visit on visit.route_point_id = other.id and visit._missing_since is null
        where other.route_plan_id = point.route_plan_id and other._missing_since is null
        and ${wasOnSite('other')} and ${PLANNED_ORDER('other')} > ${PLANNED_ORDER('point')}
        and visit.return_date < done.return_date) end`,
    ),
    has_picture: boolean('True if a picture was taken.', `(coalesce(done.pictures, '') <> '')`),
    has_signature: boolean('True if there is a signature.', `(coalesce(done.signature_img, '') <> '')`),
    has_evidence: boolean(
      'True if there is a picture, a signature or a picture of the odometer.',
      `(coalesce(done.pictures, '') <> '' or coalesce(done.signature_img, '') <> ''
      or coalesce(done.hodometer_picture, '') <> '')`,
    ),
    item_count: integer('Number of items of the stop.', items('count(*)')),
    item_quantity: real('Quantity of all items; unit not stated by the service.', items('sum(item.quantity)')),
    item_value: real(
      'Value of all items, rounded to cents; currency not stated by the service.',
      ({ roundedToCents }) => items(roundedToCents('sum(item.value)')),
    ),
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
