// Finds the stop outcomes that the ERP has not been notified of. The stops come from the warehouse. A plan that has not been
// pulled yet, or a stop whose execution time the warehouse does not know, is read from the service.
import PQueue from 'p-queue';
import { asRoadbookError, Skippable } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { StopOutcome } from '../../erp/source.ts';
import type { Endpoint } from '../../fleet/endpoint.ts';
import { routePlan } from '../../fleet/endpoints/route-plan.ts';
import { routePoint } from '../../fleet/endpoints/route-point.ts';
import type { OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { type NotifiedStop, notifiedStops, pulledStops, type StopRow } from '../../warehouse/outbox/returns.ts';
import type { PushRun } from '../push/kind.ts';
import { countUncoded, outcomeHash, outcomesOf, PENDING, rowsOfPlan, rowsOfPoint } from './stop-outcome.ts';

type Plan = Pick<OutboxEntry, 'external_code' | 'code_use' | 'remote_id' | 'period_start'>;

export interface Change {
  /** Null if the change is that more stops of the plan have an outcome but no code. */
  outcome: StopOutcome | null;
  /** The row of `push_return` once the ERP is notified. */
  row: Omit<NotifiedStop, 'told_at' | 'run_id'>;
}

/** The outcome to notify; undefined if the ERP already has it. */
export function changeOf(
  before: Pick<NotifiedStop, 'status' | 'executed_at' | 'outcome_hash'> | undefined,
  now: StopOutcome,
): StopOutcome | undefined {
  if (before === undefined) return now.status === PENDING ? undefined : now;
  const isBare = now.executedAt === null && now.reason === null && now.pictures.length === 0;
  // If the execution details are no longer known, the earlier notification stays valid.
  if (isBare && now.status === before.status) return undefined;
  const executedAt = now.status === PENDING ? null : (now.executedAt ?? before.executed_at);
  const outcome = { ...now, executedAt };
  return outcomeHash(outcome) === before.outcome_hash ? undefined : outcome;
}

export async function changesOf(push: PushRun, plans: readonly Plan[]): Promise<Change[]> {
  const { engine } = push;
  const codes = plans.map(({ external_code }) => external_code);
  const notified = await engine.read((sql) => notifiedStops(sql, codes));
  const before = new Map(notified.map((row) => [nameOf(row), row]));
  const pulled = await engine.read((sql) => pulledStops(sql, plans.map(idOf)));
  const calls = new PQueue({ concurrency: push.context.dependencies.concurrency });
  const found = plans.map((plan) => changesOfPlan(push, plan, pulled.get(idOf(plan)), before, calls));
  return (await Promise.all(found)).flat();
}

async function changesOfPlan(
  push: PushRun,
  plan: Plan,
  pulled: readonly StopRow[] | undefined,
  before: ReadonlyMap<string, NotifiedStop>,
  calls: PQueue,
): Promise<Change[]> {
  const { counts } = push.context;
  const rows = pulled ?? (await calls.add(() => planAtService(push, plan)));
  if (rows === undefined) return [];
  const stops = outcomesOf(plan, rows).map(async (known) => {
    const last = before.get(nameOf(keyOf(plan, known.pointExternalCode)));
    const isUntimed = known.status !== PENDING && known.executedAt === null;
    const mustRead = pulled !== undefined && isUntimed && changeOf(last, known) !== undefined;
    return { last, now: mustRead ? await calls.add(() => stopAtService(push, plan, known)) : known };
  });
  const changes: Change[] = [];
  for (const { last, now } of await Promise.all(stops)) {
    if (now === undefined) continue;
    const outcome = changeOf(last, now);
    if (last === undefined && outcome === undefined) continue;
    counts.records++;
    counts[outcome === undefined ? 'unchanged' : last === undefined ? 'inserted' : 'updated']++;
    if (outcome === undefined) continue;
    const { status, executedAt: executed_at } = outcome;
    const key = keyOf(plan, outcome.pointExternalCode);
    changes.push({ outcome, row: { ...key, status, executed_at, outcome_hash: outcomeHash(outcome) } });
  }
  const uncoded = countUncoded(rows);
  const row = { ...keyOf(plan, ''), status: String(uncoded), executed_at: null, outcome_hash: '' };
  if (uncoded > Number(before.get(nameOf(row))?.status ?? 0)) changes.push({ outcome: null, row });
  return changes;
}

const idOf = ({ remote_id }: Plan): number => Number(remote_id);

type StopKey = Pick<NotifiedStop, 'plan_external_code' | 'code_use' | 'point_external_code'>;

const keyOf = ({ external_code, code_use }: Plan, point_external_code: string): StopKey => ({
  plan_external_code: external_code,
  code_use,
  point_external_code,
});

const nameOf = ({ plan_external_code, code_use, point_external_code }: StopKey): string =>
  JSON.stringify([plan_external_code, code_use, point_external_code]);

async function planAtService(push: PushRun, plan: Plan): Promise<StopRow[] | undefined> {
  const includes = ['route_points' as const, 'route_points.routes_info' as const];
  return (await callOrReport(push, routePlan, { route_plan_id: idOf(plan), includes }))?.flatMap(rowsOfPlan);
}

async function stopAtService(push: PushRun, plan: Plan, known: StopOutcome): Promise<StopOutcome | undefined> {
  const { pointExternalCode: external_code } = known;
  const request = { route_plan_id: idOf(plan), external_code, includes: ['routes_info'] };
  const points = await callOrReport(push, routePoint, request);
  if (points === undefined) return undefined;
  const shown = outcomesOf(plan, points.flatMap(rowsOfPoint));
  return shown.find(({ pointExternalCode }) => pointExternalCode === external_code) ?? known;
}

/**
 * Undefined if the call fails for a passing reason: the next run repeats it. Empty if the service rejects it, which may stay
 * so: then the ERP gets what is known. The failure is reported in either case.
 */
async function callOrReport<Request>(
  push: PushRun,
  endpoint: Endpoint<Request, unknown[]>,
  request: Request,
): Promise<JsonObject[] | undefined> {
  try {
    return (await push.call(endpoint, request)) as JsonObject[];
  } catch (thrown) {
    const failure = asRoadbookError(thrown);
    if (!push.context.signal.aborted) push.report(failure, 'stops of a plan could not be read');
    return failure instanceof Skippable ? [] : undefined;
  }
}
