// What the ERP has not been told yet of the stops of some plans. The warehouse tells it; the service is asked for a
// plan that has not been pulled yet, and for a single stop whose execution has not been.
import PQueue from 'p-queue';
import { asRoadbookError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/glossary.ts';
import type { StopOutcome } from '../../erp/source.ts';
import type { Endpoint } from '../../fleet/endpoint.ts';
import { routePlan } from '../../fleet/endpoints/route-plan.ts';
import { routePoint } from '../../fleet/endpoints/route-point.ts';
import { notifiedStops, pulledPlans, stopsOf } from '../../warehouse/outbox/returns.ts';
import type { OutboxEntry } from '../../warehouse/outbox-entry.ts';
import type { PushRun } from '../push/push-run.ts';
import { outcomeHash, outcomesOfRows, rowsOfPlan, rowsOfPoint, uncodedStops } from './stop-outcome.ts';

export interface News {
  outcome: StopOutcome;
  hash: string;
}

export interface PageOfNews {
  news: News[];
  /** How many stops of each plan have an outcome and no code to return it under. */
  uncoded: Map<OutboxEntry, number>;
}

interface PlanOutcomes {
  plan: OutboxEntry;
  outcomes: StopOutcome[];
  uncoded: number;
  isPulled: boolean;
}

export async function newsOf(push: PushRun, plans: readonly OutboxEntry[]): Promise<PageOfNews> {
  const { engine } = push.context.parts;
  const codes = plans.map(({ external_code }) => external_code);
  const told = new Map(
    (await engine.read((sql) => notifiedStops(sql, codes))).map((stop) => [
      stopName(stop.plan_external_code, stop.point_external_code),
      stop.outcome_hash,
    ]),
  );
  const found = await outcomesOf(push, plans);
  const news: News[] = [];
  for (const { plan, outcomes, isPulled } of found) {
    for (const known of outcomes) {
      const before = told.get(stopName(known.planExternalCode, known.pointExternalCode));
      const isBare = isPulled && known.executedAt === null && before !== outcomeHash(known);
      const outcome = isBare ? await completed(push, plan, known) : known;
      const hash = outcomeHash(outcome);
      count(push, before, hash);
      if (before !== hash) news.push({ outcome, hash });
    }
  }
  return { news, uncoded: new Map(found.map(({ plan, uncoded }) => [plan, uncoded])) };
}

const stopName = (plan: string, point: string): string => JSON.stringify([plan, point]);

function count({ context: { counts } }: PushRun, before: string | undefined, hash: string): void {
  counts.records++;
  if (before === undefined) counts.inserted++;
  else if (before === hash) counts.unchanged++;
  else counts.updated++;
}

async function outcomesOf(push: PushRun, plans: readonly OutboxEntry[]): Promise<PlanOutcomes[]> {
  const { engine, concurrency } = push.context.parts;
  const ids = plans.map(({ remote_id }) => Number(remote_id));
  const pulled = await engine.read((sql) => pulledPlans(sql, ids));
  const rows = Map.groupBy(await engine.read((sql) => stopsOf(sql, [...pulled])), ({ route_plan_id }) =>
    Number(route_plan_id),
  );
  const calls = new PQueue({ concurrency });
  return Promise.all(
    plans.map(async (plan) => {
      const id = Number(plan.remote_id);
      const isPulled = pulled.has(id);
      const own = isPulled ? (rows.get(id) ?? []) : await calls.add(() => planRows(push, id));
      const outcomes = outcomesOfRows(plan, own);
      return { plan, outcomes, uncoded: uncodedStops(own), isPulled };
    }),
  );
}

async function planRows(push: PushRun, id: number) {
  const includes = ['route_points', 'route_points.routes_info'] as const;
  const plans = await asked(push, routePlan, { route_plan_id: id, includes: [...includes] });
  return plans.flatMap(rowsOfPlan);
}

/** The warehouse knows that something happened there, but not when: the service may by now. */
async function completed(push: PushRun, plan: OutboxEntry, known: StopOutcome): Promise<StopOutcome> {
  const id = Number(plan.remote_id);
  const request = { route_plan_id: id, external_code: known.pointExternalCode, includes: ['routes_info'] };
  const points = await asked(push, routePoint, request);
  const [outcome] = outcomesOfRows(
    plan,
    points.flatMap((point) => rowsOfPoint(id, point)),
  );
  return outcome ?? known;
}

/** What cannot be had now is left for the next run. */
async function asked<Request>(
  push: PushRun,
  endpoint: Endpoint<Request, unknown[]>,
  request: Request,
): Promise<JsonObject[]> {
  try {
    return (await push.call(endpoint, request)) as JsonObject[];
  } catch (thrown) {
    if (!push.context.signal.aborted) push.failures.push(asRoadbookError(thrown));
    return [];
  }
}
