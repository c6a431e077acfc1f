// Counts the uses of a plan's code in the key of `push_return`, and stores the time that each notification had: it was
// that of the last execution of the stop, whether or not that has vanished since.
import type { Knex } from 'knex';
import type { Ddl } from '../../engine.ts';
import { pushReturn } from '../../outbox/returns.ts';
import { rebuildTable } from './rebuild-table.ts';

const EXECUTED_AT = `(
  select max(done.return_date) from push_outbox as plan
  join route_point as point on point.route_plan_id = plan.remote_id
  join route_point_execution as done on done.route_point_id = point.id
  where plan.kind = 'route_plans' and plan.external_code = plan_external_code
    and point.external_code = point_external_code)`;

export const returnKey = {
  name: '2026-11-16 key returns by the use of the code',
  up: (sql: Knex, engine: Ddl): Promise<void> =>
    rebuildTable(sql, engine, pushReturn, { code_use: '1', executed_at: EXECUTED_AT }),
};
