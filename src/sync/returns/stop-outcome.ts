// Makes the outcome that the ERP is told of a stop, from the warehouse's rows or from the service's record. Pure;
// both ways give the same outcome for the same stop.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../core/glossary.ts';
import type { StopOutcome } from '../../erp/source.ts';
import { toInstant } from '../../fleet/instants.ts';
import type { StopRow } from '../../warehouse/outbox/returns.ts';
import type { OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { fieldText } from '../push/push-listing.ts';

/** Nothing has happened at such a stop yet. */
const PLANNED = 'P';

/** Of several executions of one stop the last row counts. Stops without a code cannot be told. */
export function outcomesOfRows(
  plan: Pick<OutboxEntry, 'external_code' | 'period_start'>,
  rows: readonly StopRow[],
): StopOutcome[] {
  const byStop = new Map(rows.flatMap((row) => (row.external_code ? [[row.external_code, row]] : [])));
  return [...byStop].flatMap(([pointExternalCode, row]) =>
    !hasHappened(row)
      ? []
      : [
          {
            planExternalCode: plan.external_code,
            planPeriodStart: plan.period_start,
            pointExternalCode,
            status: row.status,
            executedAt: row.return_date,
            reason: row.route_return_reason_name ?? row.route_executed_reason_name,
            pictures: names(row.pictures, row.signature_img, row.hodometer_picture),
          },
        ],
  );
}

/** How many stops have an outcome that no code could be told with. */
export const uncodedStops = (rows: readonly StopRow[]): number =>
  new Set(rows.filter((row) => !row.external_code && hasHappened(row)).map((row) => row.route_point_id)).size;

const hasHappened = ({ status }: StopRow): boolean => status !== null && status !== PLANNED;

/** The points of a plan as the service returns them with their executions. */
export function rowsOfPlan(plan: JsonObject): StopRow[] {
  const points = (Array.isArray(plan.route_points) ? plan.route_points : []) as JsonObject[];
  return points.flatMap((point) => rowsOfPoint(Number(plan.id), point));
}

export function rowsOfPoint(route_plan_id: number, point: JsonObject): StopRow[] {
  const executions = (Array.isArray(point.routes_info) ? point.routes_info : []) as JsonObject[];
  const stop = {
    route_plan_id,
    route_point_id: Number(point.id),
    external_code: fieldText(point.external_code) ?? null,
    status: fieldText(point.status) ?? PLANNED,
  };
  return (executions.length === 0 ? [{}] : executions)
    .map((execution) => ({ id: Number(execution.id ?? 0), row: { ...stop, ...executed(execution) } }))
    .toSorted((a, b) => compareText(a.row.return_date ?? '', b.row.return_date ?? '') || a.id - b.id)
    .map(({ row }) => row);
}

function executed(
  execution: JsonObject,
): Omit<StopRow, 'route_plan_id' | 'route_point_id' | 'external_code' | 'status'> {
  const nameIn = (reason: unknown): string | null => fieldText((reason as JsonObject | null)?.name) ?? null;
  return {
    return_date: toInstant(fieldText(execution.return_date) ?? '') ?? null,
    pictures: fieldText(execution.pictures) ?? null,
    signature_img: fieldText(execution.signature_img) ?? null,
    hodometer_picture: fieldText(execution.hodometer_picture) ?? null,
    route_return_reason_name: nameIn(execution.route_return_reason),
    route_executed_reason_name: nameIn(execution.route_executed_reason),
  };
}

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

const names = (...texts: (string | null)[]): string[] =>
  texts.filter((text) => text !== null && text !== '').map(String);

/** The period is no part of it: it names the plan, and digests from before it was known stay valid. */
const HASHED = ['planExternalCode', 'pointExternalCode', 'status', 'executedAt', 'reason', 'pictures'];

export const outcomeHash = (outcome: StopOutcome): string =>
  createHash('sha256').update(JSON.stringify(outcome, HASHED)).digest('hex');
