// One row per executed stop that lacks evidence it must have. What it must have is set in `proof` of the configuration: the
// service returns only that a picture is waived. A checklist is not linked to a stop, so it is expected once a day from the
// agent.
import type { Dialect } from '../schema/dialect.ts';
import { boolean, date, integer, text, view } from '../schema/view.ts';
import { routePlan } from '../tables/route-plan.ts';
import { routePoint } from '../tables/route-point.ts';
import { routePointExecution } from '../tables/route-point-execution.ts';
import { atAndLocal, offsetAt } from './shared/local-columns.ts';
import { DONE, isCustomerStop, isLatestExecution, wasOnSite } from './shared/stops.ts';

const isRequired = (evidence: string): string =>
  `exists (select 1 from proof_rule as rule where rule.evidence = '${evidence}')`;

const LACKS_PICTURE = `(${isRequired('picture')} and coalesce(done.pictures, '') = ''
      and not coalesce(point.disable_picture, false))`;
const LACKS_SIGNATURE = `(${isRequired('signature')} and coalesce(done.signature_img, '') = '')`;

const executedDay = ({ localDay }: Dialect): string => localDay('done.return_date', offsetAt('done.return_date'));

/** A required form that the agent did not fill in on the local day of the stop. */
const lacksChecklist = (dialect: Dialect): string => `(done.return_date is not null and exists (
      select 1 from proof_rule as rule where rule.evidence = 'checklist' and not exists (
        select 1 from checklist as filled where filled._day = ${executedDay(dialect)}
        and filled.user_id = plan.user_id and filled.checklist_form_name = rule.form_name
        and filled._missing_since is null)))`;

export const biMissingProof = view({
  name: 'bi_missing_proof',
  meaning:
    'One row per executed stop without a picture, signature or checklist that `proof` in the configuration requires.',
  key: ['stop_id'],
  tables: { point: routePoint, plan: routePlan, done: routePointExecution },
  columns: {
    day: date('Local day on which the stop was executed; null if the time is not known.', executedDay),
    agent_id: integer('Executing agent.', 'plan.user_id'),
    agent_name: text('Name of the agent.', 'plan.user_name'),
    vehicle_plate: text('Licence plate of the vehicle.', 'plan.vehicle_plate'),
    stop_id: integer('Identifier of the stop, as in bi_delivery.', 'point.id'),
    stop_code: text('Identifier of the stop in the ERP.', 'point.external_code'),
    stop_name: text('Name of the stop, such as an invoice number or a customer.', 'point.name'),
    plan_id: integer('Identifier of the route plan.', 'plan.id'),
    plan_code: text('Code of the plan in the ERP.', 'plan.external_code'),
    ...atAndLocal('executed', 'the stop was executed', 'done.return_date'),
    by_office: boolean(
      'True if the office recorded the outcome, so that nobody was asked for evidence.',
      `not ${wasOnSite('point')}`,
    ),
    lacks_picture: boolean('True if a picture is required and there is none.', LACKS_PICTURE),
    lacks_signature: boolean('True if a signature is required and there is none.', LACKS_SIGNATURE),
    lacks_checklist: boolean(
      'True if the agent did not fill in a required form on that day; false if the day is not known.',
      lacksChecklist,
    ),
  },
  from: (dialect) => `
from route_point as point
join route_plan as plan on plan.id = point.route_plan_id
left join route_point_execution as done on ${isLatestExecution('point.id')}
where point._missing_since is null and plan._missing_since is null and ${isCustomerStop('point')}
and coalesce(point.status, 'P') in ${DONE}
and (${LACKS_PICTURE} or ${LACKS_SIGNATURE} or ${lacksChecklist(dialect)})`,
});
