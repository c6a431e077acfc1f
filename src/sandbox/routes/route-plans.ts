// Import, search, one plan with execution data, one point with execution data. Search and plan share a path: with
// route_plan_id it is the plan call. An unknown plan gives an empty list.
import { z } from 'zod';
import { jsonAnswer } from '../http/answer.ts';
import { type Call, call } from '../http/call.ts';
import { integerText, list, looseInstant, one, readQuery } from '../http/parameters.ts';
import { listAnswer } from '../http/shapes.ts';
import { vehicleIds } from '../made-up/identifiers.ts';
import { findPlan, searchPlans } from '../world/route-plans.ts';
import { planStatusAt } from '../world/route-run.ts';
import { planRecord, pointRecord } from './plan-records.ts';
import { importPlan } from './route-import.ts';

const PATH = '/import/route_plan';
const NO_VEHICLE = -1;
const PLAN_INCLUDES = [
  'user_excluded',
  'route_points',
  'route_points.routes_info',
  'route_points.route_point_items',
  'vehicle',
  'user',
];

const SEARCH = z.object({
  begin_date: one(looseInstant.optional()),
  end_date: one(looseInstant.optional()),
  user_id: one(integerText.optional()),
  vehicle_id: one(integerText.optional()),
  route_plan_code: one(z.string().optional()),
  route_plan_statuses: list(z.enum(['P', 'E', 'C', 'W', 'I', 'R'])).default([]),
  includes: list(z.enum(['user_excluded', 'vehicle', 'vehicle.device', 'user'])).default([]),
});
const PLAN = z.object({ route_plan_id: one(integerText), includes: list(z.enum(PLAN_INCLUDES)) });
const POINT = z.object({
  route_plan_id: one(integerText),
  external_code: one(z.string()),
  includes: list(z.string()),
});

export const routePlanCalls: Call[] = [
  call('import-route-plan', 'POST', PATH, ({ world }, { body }) => {
    const { draft, wrongLines, wrongPlans, unassigned } = importPlan(world, body);
    if (draft !== undefined) {
      const { id, externalCode: name, createdAt: at } = draft;
      world.journal.write({ at, kind: 'route_plan', id, created: true, name, record: draft });
    }
    return jsonAnswer({
      route_points: draft?.points.length ?? 0,
      wrong_lines: wrongLines,
      wrong_route_plans: wrongPlans,
      unassigned_points: unassigned,
    });
  }),
  {
    ...call('route-plan', 'GET', PATH, ({ world }, { query }) => {
      const { route_plan_id, includes } = readQuery(PLAN, query);
      const run = findPlan(world, route_plan_id);
      return listAnswer(world.shapes, run === undefined ? [] : [planRecord(world, run, includes)]);
    }),
    when: (query) => query.has('route_plan_id'),
  },
  call('route-plans', 'GET', PATH, ({ world }, { query }) => {
    const wanted = readQuery(SEARCH, query);
    const { begin_date: from, end_date: to, route_plan_code: code, vehicle_id, user_id } = wanted;
    const vehicle = vehicle_id === undefined ? undefined : (vehicleIds.indexOf(vehicle_id) ?? NO_VEHICLE);
    const statuses: string[] = wanted.route_plan_statuses;
    const found = searchPlans(world, { from, to, code, vehicle }).filter(
      (run) =>
        (user_id === undefined || run.draft.userId === user_id) &&
        (statuses.length === 0 || statuses.includes(planStatusAt(run, world.now()))),
    );
    const records = found.map((run) => planRecord(world, run, wanted.includes));
    return listAnswer(world.shapes, records);
  }),
  call('route-point', 'GET', '/import/route_point', ({ world }, { query }) => {
    const { route_plan_id, external_code, includes } = readQuery(POINT, query);
    const run = findPlan(world, route_plan_id);
    const points = run?.draft.points.filter((point) => point.externalCode === external_code);
    const records = run && points?.map((point) => pointRecord(world, run, point, includes));
    return listAnswer(world.shapes, records ?? []);
  }),
];
