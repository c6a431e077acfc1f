// Brings the outcome of each stop of a confirmed plan back to the ERP, once for each change. The ERP is notified first
// and the notification stored afterwards: a crash notifies twice rather than never.
import { isoInstant } from '../../core/clock.ts';
import { asRoadbookError, Skippable } from '../../core/errors.ts';
import { noCounts } from '../../core/glossary.ts';
import type { OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { runningPlans, storeNotified } from '../../warehouse/outbox/returns.ts';
import type { Preview, RunContext, RunOutcome } from '../job.ts';
import { createNotifier } from '../push/acknowledge.ts';
import { openPush, type PushRun } from '../push/kind.ts';
import { routePlanKind } from '../push/kinds/route-plans.ts';
import { type Change, changesOf } from './changes.ts';

const MOST_NAMED = 10;

export async function executeReturns(context: RunContext): Promise<RunOutcome> {
  const feed = await context.parts.erp('route_plans');
  if (feed === undefined) {
    context.log.debug({ feed: 'route_plans' }, 'no feed in the configuration; nothing to return');
    return { failures: [], worked: true };
  }
  const push = await openPush(routePlanKind, feed, context);
  const erp = createNotifier<Change>(context.signal, (some) => notify(push, some));
  const uncoded: Change[] = [];
  try {
    await eachPage(push, async (plans) => {
      const changes = Map.groupBy(await changesOf(push, plans), ({ outcome }) => outcome !== null);
      uncoded.push(...(changes.get(false) ?? []));
      return erp.notify(changes.get(true) ?? []);
    });
  } catch (thrown) {
    if (!context.signal.aborted) push.failures.push(asRoadbookError(thrown));
  }
  const refusal = erp.refusal();
  if (refusal !== undefined) push.failures.push(refusal);
  // A run that is cut leaves the report to the next one.
  if (uncoded.length > 0 && !context.signal.aborted) await reportUncoded(push, uncoded);
  return { failures: push.failures, worked: context.counts.records + uncoded.length > 0 };
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
    for (const { outcome } of await changesOf(push, plans))
      if (outcome !== null) lines.push({ what: 'return', detail: outcome });
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
  for (let last: OutboxEntry | undefined; !context.signal.aborted; ) {
    const after = last;
    const plans = await engine.read((sql) => runningPlans(sql, span, after));
    if (plans.length === 0 || !(await work(plans))) return;
    last = plans.at(-1);
  }
}

async function notify(push: PushRun, changes: readonly Change[]): Promise<void> {
  await push.feed.source.returnExecutions(changes.flatMap(({ outcome }) => outcome ?? []));
  push.context.counts.sent += changes.length;
  await store(push, changes);
}

async function store({ context, now }: PushRun, changes: readonly Change[]): Promise<void> {
  const rows = changes.map(({ row }) => ({ ...row, told_at: now(), run_id: context.runId }));
  await context.parts.engine.write(({ sql }) => storeNotified(sql, rows));
}

async function reportUncoded(push: PushRun, uncoded: readonly Change[]): Promise<void> {
  const { context, failures } = push;
  const stops = uncoded.reduce((sum, { row }) => sum + Number(row.status), 0);
  const plans = uncoded.slice(0, MOST_NAMED).map(({ row }) => row.plan_external_code);
  const named = plans.join(', ') + (uncoded.length > MOST_NAMED ? ', …' : '');
  const failure = new Skippable(
    `${stops} stops have no external_code, so their outcome cannot be returned; plans: ${named}`,
    {
      code: 'stops_without_code',
      hint: 'Have the ERP give every stop an external_code; the outcomes of all other stops are returned.',
    },
  );
  context.log.warn({ err: failure, stops, plans: uncoded.length }, 'stops cannot be returned');
  failures.push(failure);
  await store(push, uncoded);
}
