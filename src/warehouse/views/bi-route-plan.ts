// One row per route plan, with the progress of its stops.
import type { Dialect } from '../schema/dialect.ts';
import { lookupTable } from '../schema/lookups.ts';
import { boolean, date, instant, integer, real, text, view } from '../schema/view.ts';
import { routePlan } from '../tables/route-plan.ts';
import { vehicle } from '../tables/vehicle.ts';
import { atAndLocal } from './shared/local-columns.ts';
import { CREW, DONE, isCustomerStop, isLatestExecution, isOnTime } from './shared/stops.ts';

/** Counts the customer stops of the plan that have not vanished and that match the condition. */
const stops = (condition: string): string => `(
    select count(*) from route_point as point
    where point.route_plan_id = plan.id and point._missing_since is null
    and ${isCustomerStop('point')} and ${condition})`;

const onTime =
  (wanted: boolean) =>
  (dialect: Dialect): string =>
    `(
    select count(*) from route_point as point
    join route_point_execution as done on ${isLatestExecution('point.id')}
    where point.route_plan_id = plan.id and point._missing_since is null
    and ${isCustomerStop('point')} and ${wanted ? '' : 'not '}${isOnTime('point', 'done', dialect)})`;

const visit = (which: 'min' | 'max'): string => `(
    select ${which}(visit.return_date) from route_point as point
    join route_point_execution as visit on visit.route_point_id = point.id
    where point.route_plan_id = plan.id and point._missing_since is null and visit._missing_since is null
    and coalesce(point.status, '') <> 'M')`;

const seenAs = (status: string): string => `(
    select min(change.observed_at) from status_change as change
    where change.entity = 'route_plan' and change.entity_id = plan.id and change.to_status = '${status}')`;

export const biRoutePlan = view({
  name: 'bi_route_plan',
  meaning: 'One row per route plan: planned period, vehicle and agent, progress and punctuality of its stops.',
  key: ['plan_id'],
  tables: { plan: routePlan, vehicle, plan_state: lookupTable('route_plan_status') },
  columns: {
    plan_id: integer('Identifier of the route plan.', 'plan.id'),
    plan_code: text('Code of the plan in the ERP.', 'plan.external_code'),
    status: text('Status of the plan: P, E, C, W, I or R; see route_plan_status.', 'plan.status'),
    status_name: text('Status of the plan, in words.', 'coalesce(plan_state.name, plan.status)'),
    is_completed: boolean('True once the plan is completed.', `(coalesce(plan.status, '') = 'C')`),
    day: date('Local day of the planned start.', 'plan._day'),
    ...atAndLocal('planned_start', 'the plan should start', 'plan.date_time_start'),
    ...atAndLocal('planned_end', 'the plan should end', 'plan.date_time_end'),
    ...atAndLocal('created', 'the plan was created', 'plan.date_created'),
    ...CREW,
    planned_distance: real('Planned distance; unit not stated by the service.', 'plan.total_distance'),
    planned_time: integer('Planned time; unit not stated by the service.', 'plan.total_time'),
    planned_capacity: integer('Planned capacity; unit not stated by the service.', 'plan.total_capacity'),
    vehicle_capacity: integer('Capacity of the vehicle; unit not stated by the service.', 'plan.vehicle_capacity'),
    stops: integer('Stops at customers, without the start and the arrival.', stops('true')),
    stops_done: integer('Stops performed or delivered.', stops(`coalesce(point.status, 'P') in ${DONE}`)),
    stops_returned: integer('Stops returned.', stops(`coalesce(point.status, 'P') = 'D'`)),
    stops_open: integer('Stops not yet visited.', stops(`coalesce(point.status, 'P') = 'P'`)),
    stops_on_time: integer('Stops delivered in time, as is_on_time of bi_delivery says.', onTime(true)),
    stops_late: integer('Stops delivered late, as is_on_time of bi_delivery says.', onTime(false)),
    first_executed_at: instant('First execution at any point of the plan, UTC.', visit('min')),
    last_executed_at: instant('Last execution so far at any point of the plan, UTC.', visit('max')),
    in_execution_seen_at: instant('When the plan was first observed in execution, UTC.', seenAs('E')),
    completed_seen_at: instant('When the plan was first observed as completed, UTC.', seenAs('C')),
    push_state: text(
      'State of the plan in the outbox; null if Roadbook did not push it.',
      `(select sent.state from push_outbox as sent
      where sent.kind = 'route_plans' and sent.remote_id = plan.id order by sent.created_at desc limit 1)`,
    ),
  },
  from: `
from route_plan as plan
left join vehicle on vehicle.id = plan.vehicle_id
left join route_plan_status as plan_state on plan_state.code = plan.status
where plan._missing_since is null`,
});
