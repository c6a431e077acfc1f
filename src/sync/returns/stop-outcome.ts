// Builds the outcome of a stop from rows of the warehouse or from a record of the service. Pure; both sources give the
// same outcome for the same stop.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../core/json.ts';
import type { StopOutcome } from '../../erp/source.ts';
import { toInstant } from '../../fleet/instants.ts';
import type { OutboxEntry } from '../../warehouse/outbox/entry.ts';
import type { StopRow } from '../../warehouse/outbox/returns.ts';
import { fieldText } from '../push/kinds/answers.ts';

/** Status of a stop without an outcome: not executed yet, or reset. */
export const PENDING = 'P';

/**
 * If a stop has several rows, the last one counts. If two stops share a code, one with an outcome takes precedence over a
 * pending one. Stops without a code or without a status are left out.
 */
export function outcomesOf(
  plan: Pick<OutboxEntry, 'external_code' | 'period_start'>,
  rows: readonly StopRow[],
): StopOutcome[] {
  const pendingFirst = rows.toSorted((a, b) => Number(hasOutcome(a)) - Number(hasOutcome(b)));
  const byCode = new Map(pendingFirst.map((row) => [row.external_code, row]));
  return [...byCode].flatMap(([pointExternalCode, row]) => {
    if (!pointExternalCode || !row.status) return [];
    const pictures = [row.pictures, row.signature_img, row.hodometer_picture].flatMap((name) => name || []);
    const reason = row.route_return_reason_name ?? row.route_executed_reason_name;
    return {
      planExternalCode: plan.external_code,
      planPeriodStart: plan.period_start,
      pointExternalCode,
      status: row.status,
      // A pending stop may still have the execution of an earlier outcome.
      ...(hasOutcome(row) ? { executedAt: row.return_date, reason, pictures } : NOT_EXECUTED),
    };
  });
}

const NOT_EXECUTED = { executedAt: null, reason: null, pictures: [] };

/** The number of stops with an outcome that cannot be returned, because they have no code. */
export const countUncoded = (rows: readonly StopRow[]): number =>
  new Set(rows.flatMap((row) => (!row.external_code && hasOutcome(row) ? [row.route_point_id] : []))).size;

const hasOutcome = ({ status }: StopRow): boolean => Boolean(status) && status !== PENDING;

/** The period is not hashed: it only identifies the plan, and hashes stored before the field existed stay valid. */
const HASHED = ['planExternalCode', 'pointExternalCode', 'status', 'executedAt', 'reason', 'pictures'];

export const outcomeHash = (outcome: StopOutcome): string =>
  createHash('sha256').update(JSON.stringify(outcome, HASHED)).digest('hex');

/** The rows of a plan as the service returns it, with points and executions. */
export const rowsOfPlan = (plan: JsonObject): StopRow[] => records(plan.route_points).flatMap(rowsOfPoint);

/** In the same order as the rows of the warehouse. */
export function rowsOfPoint(point: JsonObject): StopRow[] {
  const executions = records(point.routes_info);
  return (executions.length === 0 ? [{}] : executions)
    .map((execution) => ({ id: Number(execution.id ?? 0), row: rowOf(point, execution) }))
    .toSorted((a, b) => compareText(a.row.return_date ?? '', b.row.return_date ?? '') || a.id - b.id)
    .map(({ row }) => row);
}

const rowOf = (point: JsonObject, execution: JsonObject): StopRow => ({
  route_point_id: Number(point.id),
  external_code: fieldText(point.external_code) ?? null,
  status: fieldText(point.status) ?? null,
  return_date: toInstant(fieldText(execution.return_date) ?? '') ?? null,
  pictures: fieldText(execution.pictures) ?? null,
  signature_img: fieldText(execution.signature_img) ?? null,
  hodometer_picture: fieldText(execution.hodometer_picture) ?? null,
  route_return_reason_name: nameIn(execution.route_return_reason),
  route_executed_reason_name: nameIn(execution.route_executed_reason),
});

const records = (value: unknown): JsonObject[] => (Array.isArray(value) ? value : []);

const nameIn = (reason: unknown): string | null => fieldText((reason as JsonObject | null)?.name) ?? null;

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
