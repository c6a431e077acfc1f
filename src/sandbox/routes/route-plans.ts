// Import, search, one plan with execution data, one point with execution data. Search and plan share a path: with
// route_plan_id it is the plan call. An unknown plan gives an empty list.
import { jsonAnswer } from '../http/answer.ts';
import { type Call, type CallRequest, readCall, writeCall } from '../http/call.ts';
import {
  collection,
  looseInstant,
  optionalInteger,
  requireCollection,
  requiredInteger,
  requireParameter,
  wordCollection,
} from '../http/parameters.ts';
import { listAnswer } from '../http/shapes.ts';
import { vehicleIds } from '../made-up/identifiers.ts';
import { findPlan, searchPlans } from '../world/route-plans.ts';
import { planStatusAt, type RouteRun } from '../world/route-run.ts';
import type { World } from '../world/world.ts';
import { planRecord, pointRecord } from './plan-records.ts';
import { importPlan } from './route-import.ts';

/** An index that no vehicle has. */
const NO_VEHICLE = -1;
const STATUSES = ['P', 'E', 'C', 'W', 'I', 'R'] as const;
const SEARCH_INCLUDES = ['user_excluded', 'vehicle', 'vehicle.device', 'user'] as const;
const PLAN_INCLUDES = [
  'user_excluded',
  'route_points',
  'route_points.routes_info',
  'route_points.route_point_items',
  'vehicle',
  'user',
] as const;

export const routePlanCalls = (world: World): Call[] => [
  writeCall('import-route-plan', 'POST', '/import/route_plan', ({ body }) => importCall(world, body)),
  {
    ...readCall('route-plan', '/import/route_plan', (request) => planCall(world, request)),
    when: (query) => query.has('route_plan_id'),
  },
  readCall('route-plans', '/import/route_plan', (request) => searchCall(world, request)),
  readCall('route-point', '/import/route_point', (request) => pointCall(world, request)),
];

function importCall(world: World, body: unknown) {
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
}

function searchCall(world: World, { query }: CallRequest) {
  const from = looseInstant(query, 'begin_date');
  const to = looseInstant(query, 'end_date');
  const userId = optionalInteger(query, 'user_id');
  const vehicleId = optionalInteger(query, 'vehicle_id');
  const code = query.get('route_plan_code') || undefined;
  const statuses = wordCollection(query, 'route_plan_statuses', STATUSES) ?? [];
  const includes = wordCollection(query, 'includes', SEARCH_INCLUDES) ?? [];
  const vehicle = vehicleId === undefined ? undefined : (vehicleIds.indexOf(vehicleId) ?? NO_VEHICLE);
  const now = world.now();
  const isWanted = (run: RouteRun): boolean =>
    (userId === undefined || run.draft.userId === userId) &&
    (statuses.length === 0 || statuses.includes(planStatusAt(run, now)));
  const plans = searchPlans(world, { from, to, code, vehicle }).filter(isWanted);
  return listAnswer(
    world.shapes,
    plans.map((run) => planRecord(world, run, includes)),
  );
}

function planCall(world: World, { query }: CallRequest) {
  const id = requiredInteger(query, 'route_plan_id');
  const includes = requireCollection('includes', wordCollection(query, 'includes', PLAN_INCLUDES));
  const run = findPlan(world, id);
  return listAnswer(world.shapes, run === undefined ? [] : [planRecord(world, run, includes)]);
}

function pointCall(world: World, { query }: CallRequest) {
  const id = requiredInteger(query, 'route_plan_id');
  const externalCode = requireParameter(query, 'external_code');
  const includes = requireCollection('includes', collection(query, 'includes'));
  const run = findPlan(world, id);
  const points = run?.draft.points.filter((point) => point.externalCode === externalCode) ?? [];
  return listAnswer(
    world.shapes,
    run === undefined ? [] : points.map((point) => pointRecord(world, run, point, includes)),
  );
}
