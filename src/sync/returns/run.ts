// Brings the outcome of each stop of a confirmed plan back to the ERP, once for each change. Told first, noted
// afterwards. A stop without a code cannot be told: that is said once, and kept with the plan.
import { isoInstant } from '../../core/clock.ts';
import { asRoadbookError, Skippable } from '../../core/errors.ts';
import { noCounts } from '../../core/glossary.ts';
import { storeNotified } from '../../warehouse/outbox/returns.ts';
import { noteEntry, type OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { runningPlans } from '../../warehouse/outbox-lookup.ts';
import type { Preview, RunContext, RunOutcome } from '../job.ts';
import { routePlanKind } from '../push/kinds/route-plans.ts';
import { openPush, type PushRun } from '../push/push-run.ts';
import { createTeller } from '../push/teller.ts';
import { type News, newsOf } from './changes.ts';

const MOST_NAMED = 10;

export async function executeReturns(context: RunContext): Promise<RunOutcome> {
  const feed = await context.parts.erp('route_plans');
  if (feed === undefined) {
    context.log.debug({ feed: 'route_plans' }, 'no feed in the configuration; nothing to return');
    return { failures: [], worked: true };
  }
  const push = await openPush(routePlanKind, feed, context);
  const teller = createTeller<News>(context.signal, (news) => tell(push, news));
  const uncoded = new Map<string, number>();
  try {
    await eachPage(push, async (plans) => {
      const page = await newsOf(push, plans);
      await noteUncoded(push, page.uncoded, uncoded);
      return teller.tell(page.news);
    });
  } catch (thrown) {
    if (!context.signal.aborted) push.failures.push(asRoadbookError(thrown));
  }
  const refusal = teller.refusal();
  if (refusal !== undefined) push.failures.push(refusal);
  tellUncoded(push, uncoded);
  return { failures: push.failures, worked: context.counts.records + uncoded.size > 0 };
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
    const { news } = await newsOf(push, plans);
    for (const { outcome } of news) lines.push({ what: 'return', detail: outcome });
    return true;
  });
  return lines;
}

/** `work` says whether to go on. */
async function eachPage(push: PushRun, work: (plans: OutboxEntry[]) => Promise<boolean>): Promise<void> {
  const { context } = push;
  const { engine, clock } = context.parts;
  const lookbackMs = Number(context.options.lookback);
  const span = { startedBy: push.now(), endedAfter: isoInstant(clock.now() - lookbackMs) };
  for (let after = ''; !context.signal.aborted; ) {
    const plans = await engine.read((sql) => runningPlans(sql, span, after));
    if (plans.length === 0 || !(await work(plans))) return;
    after = plans.at(-1)?.external_code ?? '';
  }
}

async function tell({ feed, context, now }: PushRun, news: readonly News[]): Promise<void> {
  await feed.source.returnExecutions(news.map(({ outcome }) => outcome));
  context.counts.sent += news.length;
  const stops = news.map(({ outcome, hash }) => ({
    plan_external_code: outcome.planExternalCode,
    code_use: 1,
    point_external_code: outcome.pointExternalCode,
    status: outcome.status,
    executed_at: outcome.executedAt,
    outcome_hash: hash,
    told_at: now(),
    run_id: context.runId,
  }));
  await context.parts.engine.write(({ sql }) => storeNotified(sql, stops));
}

/** Adds to `news` the plans of which that was not known yet. */
async function noteUncoded(
  { context }: PushRun,
  found: ReadonlyMap<OutboxEntry, number>,
  news: Map<string, number>,
): Promise<void> {
  const changed = [...found].filter(([plan, stops]) => stops > (plan.uncoded_stops ?? 0));
  if (changed.length === 0) return;
  await context.parts.engine.write(async (tx) => {
    for (const [plan, uncoded_stops] of changed) {
      if (await noteEntry(tx, plan, { uncoded_stops })) news.set(plan.external_code, uncoded_stops);
    }
  });
}

function tellUncoded({ context, failures }: PushRun, uncoded: ReadonlyMap<string, number>): void {
  if (uncoded.size === 0) return;
  const stops = [...uncoded.values()].reduce((sum, count) => sum + count, 0);
  const named =
    [...uncoded.keys()].slice(0, MOST_NAMED).join(', ') + (uncoded.size > MOST_NAMED ? ', …' : '');
  const failure = new Skippable(
    `${stops} stops have no external_code, so their outcome cannot be returned; plans: ${named}`,
    {
      code: 'stops_without_code',
      hint: 'Let the ERP give every stop an external_code; what it was told of the others is right.',
    },
  );
  context.log.warn({ err: failure, stops, plans: uncoded.size }, 'stops cannot be returned');
  failures.push(failure);
}
