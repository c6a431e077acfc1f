// Splits a plan, as the service sends it, into the records of its four tables. Each level is validated, loaded and
// quarantined separately, and linked to the level above.
import { isJsonObject } from '../../../../core/json.ts';
import { withoutFields } from '../../../../fleet/cut-record.ts';
import { routePlans } from '../../../../fleet/endpoints/route-plans.ts';
import { routePoint as routePointCall } from '../../../../fleet/endpoints/route-point.ts';
import { toInstant } from '../../../../fleet/instants.ts';
import { routePlan } from '../../../../warehouse/tables/route-plan.ts';
import { routePoint } from '../../../../warehouse/tables/route-point.ts';
import { routePointExecution } from '../../../../warehouse/tables/route-point-execution.ts';
import { routePointItem } from '../../../../warehouse/tables/route-point-item.ts';
import { goneFrom } from '../../presets/unlisted.ts';
import { askableId, type RecordId } from '../../records/record-id.ts';
import type { FullRefreshRange, Load } from '../../records/types.ts';

type Fields = Record<string, unknown>;

const listIn = (record: unknown, field: string): unknown[] => {
  const value = isJsonObject(record) ? record[field] : undefined;
  return Array.isArray(value) ? value : [];
};

/** The elements of a list in each record, with the fields that link them. An element that is no object stays as it is. */
const below = (
  records: readonly unknown[],
  field: string,
  link: (parent: Fields, position: number, element: Fields) => Fields,
): unknown[] =>
  records.flatMap((record) =>
    listIn(record, field).map((element, position) =>
      isJsonObject(element) && isJsonObject(record) ? { ...element, ...link(record, position, element) } : element,
    ),
  );

/** The record without the lists that have their own tables. A field that should be a list and is not stays in it. */
const header = (record: unknown, ...lists: string[]): unknown => {
  if (!isJsonObject(record)) return record;
  return withoutFields(record, (name, value) => lists.includes(name) && Array.isArray(value));
};

/** The start of a plan to the millisecond. */
const startOf = (value: unknown): string | null =>
  (typeof value === 'string' && toInstant(value)?.replace(/(\.\d{3})\d+/, '$1')) || null;

function levels(plans: readonly unknown[]) {
  const points = below(plans, 'route_points', ({ id, date_time_start }, _, { time_scheduled }) => ({
    route_plan_id: id,
    plan_start: time_scheduled == null ? startOf(date_time_start) : null,
  }));
  const executions = below(points, 'routes_info', ({ id }) => ({ route_point_id: id }));
  const items = below(points, 'route_point_items', ({ id }, position) => ({ route_point_id: id, position }));
  return { points, executions, items };
}

/** The call and the table for the records of each level. */
export const planTables = [
  [routePlans, routePlan],
  [routePointCall, routePoint],
  [null, routePointExecution],
  [null, routePointItem],
] as const;

export function planLoads(plans: readonly unknown[]): Load[] {
  const { points, executions, items } = levels(plans);
  return [
    { table: routePlan, endpoint: routePlans, records: plans.map((plan) => header(plan, 'route_points')) },
    {
      table: routePoint,
      endpoint: routePointCall,
      records: points.map((point) => header(point, 'routes_info', 'route_point_items')),
    },
    { table: routePointExecution, records: executions },
    { table: routePointItem, records: items },
  ];
}

/**
 * The full-refresh ranges of these plans: the points of each plan that contains the list, and the executions and items of
 * each point that contains theirs. An absent list proves nothing. `gone` are plans that no longer exist. The child rows of
 * a plan or point vanish with it.
 */
export function planParts(plans: readonly unknown[], gone: readonly RecordId[]): FullRefreshRange[] {
  const { points } = levels(plans);
  const holding = (records: readonly unknown[], field: string): RecordId[] =>
    idsOf(records.filter((record) => isJsonObject(record) && Array.isArray(record[field])));
  return [
    { table: routePoint, range: { route_plan_id: { in: holding(plans, 'route_points') } } },
    ...goneFrom(routePoint, 'route_plan_id', gone),
    { table: routePointExecution, range: { route_point_id: { in: holding(points, 'routes_info') } } },
    { table: routePointItem, range: { route_point_id: { in: holding(points, 'route_point_items') } } },
  ];
}

export const idsOf = (records: readonly unknown[]): RecordId[] =>
  records.map(askableId).filter((id) => id !== undefined);
