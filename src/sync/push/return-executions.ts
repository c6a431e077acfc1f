// Brings the outcome of each stop of a confirmed plan back to the ERP, once for each change. The warehouse tells
// it; a plan that has not been pulled yet is asked of the service. Told first, noted afterwards.
import PQueue from 'p-queue';
import { isoInstant } from '../../core/clock.ts';
import { asRoadbookError } from '../../core/errors.ts';
import { type JsonObject, noCounts } from '../../core/glossary.ts';
import type { StopOutcome } from '../../erp/source.ts';
import { routePlan } from '../../fleet/endpoints/route-plan.ts';
import type { OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { runningPlans } from '../../warehouse/outbox-lookup.ts';
import { noteTold, pulledPlans, stopsOf, toldStops } from '../../warehouse/stop-outcomes.ts';
import type { Preview, RunContext, RunOutcome } from '../job.ts';
import { routePlanKind } from './kinds/route-plans.ts';
import { openPush, type PushRun } from './push-run.ts';
import { outcomeHash, outcomesOfRows, rowsOfPlan } from './stop-outcomes.ts';

interface News {
  outcome: StopOutcome;
  hash: string;
}

export async function executeReturns(context: RunContext): Promise<RunOutcome> {
  const feed = await context.parts.erp('route_plans');
  if (feed === undefined) {
    context.log.debug({ feed: 'route_plans' }, 'no feed in the configuration; nothing to return');
    return { failures: [], worked: true };
  }
  const push = await openPush(routePlanKind, feed, context);
  try {
    await eachPage(push, async (plans) => tell(push, await newsOf(push, plans)));
  } catch (thrown) {
    if (!context.signal.aborted) push.failures.push(asRoadbookError(thrown));
  }
  const { counts } = context;
  return { failures: push.failures, worked: counts.records > 0 };
}

export async function previewReturns(
  context: Pick<RunContext, 'job' | 'options' | 'parts'>,
): Promise<Preview[]> {
  const { parts } = context;
  const feed = await parts.erp('route_plans');
  if (feed === undefined) return [];
  const unrecorded = { runId: '', counts: noCounts(), log: parts.log, signal: new AbortController().signal };
  const push = await openPush(routePlanKind, feed, { ...context, ...unrecorded });
  const lines: Preview[] = [];
  await eachPage(push, async (plans) => {
    for (const { outcome } of await newsOf(push, plans)) lines.push({ what: 'return', detail: outcome });
  });
  return lines;
}

async function eachPage(push: PushRun, work: (plans: OutboxEntry[]) => Promise<void>): Promise<void> {
  const { context } = push;
  const { engine, clock } = context.parts;
  const lookbackMs = Number(context.options.lookback);
  const span = { startedBy: push.now(), endedAfter: isoInstant(clock.now() - lookbackMs) };
  for (let after = ''; !context.signal.aborted; ) {
    const plans = await engine.read((sql) => runningPlans(sql, span, after));
    if (plans.length === 0) return;
    await work(plans);
    after = plans.at(-1)?.external_code ?? '';
  }
}

/** What the ERP has not been told yet. */
async function newsOf(push: PushRun, plans: readonly OutboxEntry[]): Promise<News[]> {
  const { engine } = push.context.parts;
  const { counts } = push.context;
  const codes = plans.map(({ external_code }) => external_code);
  const told = await engine.read((sql) => toldStops(sql, codes));
  const toldHashes = new Map(
    told.map((stop) => [stopName(stop.plan_external_code, stop.point_external_code), stop.outcome_hash]),
  );
  const news: News[] = [];
  for (const outcome of await outcomesOf(push, plans)) {
    const hash = outcomeHash(outcome);
    const before = toldHashes.get(stopName(outcome.planExternalCode, outcome.pointExternalCode));
    counts.records++;
    if (before === hash) counts.unchanged++;
    else news.push({ outcome, hash });
    if (before === undefined) counts.inserted++;
    else if (before !== hash) counts.updated++;
  }
  return news;
}

const stopName = (plan: string, point: string): string => JSON.stringify([plan, point]);

async function outcomesOf(push: PushRun, plans: readonly OutboxEntry[]): Promise<StopOutcome[]> {
  const { engine, concurrency } = push.context.parts;
  const ids = plans.map(({ remote_id }) => Number(remote_id));
  const pulled = await engine.read((sql) => pulledPlans(sql, ids));
  const rows = Map.groupBy(await engine.read((sql) => stopsOf(sql, [...pulled])), ({ route_plan_id }) =>
    Number(route_plan_id),
  );
  const calls = new PQueue({ concurrency });
  const parts = await Promise.all(
    plans.map(async ({ external_code, remote_id }) => {
      const id = Number(remote_id);
      const own = pulled.has(id) ? (rows.get(id) ?? []) : await calls.add(() => askedFor(push, id));
      return outcomesOfRows(external_code, own);
    }),
  );
  return parts.flat();
}

/** A plan that cannot be had now is left for the next run. */
async function askedFor(push: PushRun, id: number) {
  const includes = ['route_points', 'route_points.routes_info'] as const;
  try {
    const records = await push.call(routePlan, { route_plan_id: id, includes: [...includes] });
    return records.flatMap((record) => rowsOfPlan(record as JsonObject));
  } catch (thrown) {
    if (push.context.signal.aborted) return [];
    push.failures.push(asRoadbookError(thrown));
    return [];
  }
}

async function tell({ feed, context, now }: PushRun, news: readonly News[]): Promise<void> {
  if (news.length === 0 || context.signal.aborted) return;
  await feed.source.returnExecutions(news.map(({ outcome }) => outcome));
  context.counts.sent += news.length;
  const stops = news.map(({ outcome, hash }) => ({
    plan_external_code: outcome.planExternalCode,
    point_external_code: outcome.pointExternalCode,
    status: outcome.status,
    outcome_hash: hash,
    told_at: now(),
    run_id: context.runId,
  }));
  await context.parts.engine.write(({ sql }) => noteTold(sql, stops));
}
