// Returns the outcome of each stop of a confirmed plan to the ERP, once for each change. The ERP is notified before the
// notification is stored, so after a crash it is notified twice rather than never.
import { asRoadbookError, type RoadbookError, Skippable } from '../../core/errors.ts';
import { firstNames } from '../../core/text/first-names.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { factMemory } from '../../warehouse/control/learned-facts.ts';
import type { Engine } from '../../warehouse/engine.ts';
import type { OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { pushReturn, runningPlans } from '../../warehouse/outbox/returns.ts';
import type { Preview, PreviewContext, RunContext, RunOutcome } from '../job.ts';
import { createNotifier, notifyEach } from '../push/acknowledge.ts';
import { openPush, openUnrecorded, type PushRun } from '../push/kind.ts';
import { routePlanKind } from '../push/kinds/route-plans.ts';
import { stoppedEarly } from '../run.ts';
import { type Change, changesOf } from './changes.ts';

const MOST_NAMED = 10;

export async function executeReturns(context: RunContext): Promise<RunOutcome> {
  const push = await openPush(routePlanKind, context);
  if (push === undefined) return { failures: [], worked: true };
  // Nothing may count as returned before there is a place for it.
  if (push.feed.source.returnExecutions === undefined) return { failures: [], worked: true };
  const erp = createNotifier<Change>(context.signal, (some) => notify(push, some));
  const uncoded: Change[] = [];
  const at = push.now();
  try {
    const isComplete = await eachPage(push, async (plans) => {
      const changes = Map.groupBy(await changesOf(push, plans), ({ outcome }) => outcome !== null);
      uncoded.push(...(changes.get(false) ?? []));
      return erp.notify(changes.get(true) ?? []);
    });
    if (isComplete) await lastComplete(push.engine).write({ at }, Date.parse(at));
  } catch (thrown) {
    if (!context.signal.aborted) push.report(asRoadbookError(thrown), 'stops could not be returned');
  }
  const failure = erp.failure();
  if (failure !== undefined) push.report(failure, 'ERP could not be notified');
  // An aborted run leaves the report to the next run.
  if (context.signal.aborted)
    push.failures.unshift(stoppedEarly('What the ERP was notified of is stored; the next run notifies of the rest.'));
  else if (uncoded.length > 0) await reportUncoded(push, uncoded);
  return { failures: push.failures, worked: context.counts.records + uncoded.length > 0 };
}

export async function previewReturns(context: PreviewContext): Promise<Preview[]> {
  const push = await openUnrecorded(routePlanKind, context);
  if (push?.feed.source.returnExecutions === undefined) return [];
  const lines: Preview[] = [];
  await eachPage(push, async (plans) => {
    for (const { outcome } of await changesOf(push, plans))
      if (outcome !== null) lines.push({ what: 'return', detail: outcome });
    return true;
  });
  return lines;
}

/** When the last run began that came to its end: what ended since then is returned however long ago that is. */
const lastComplete = (engine: Engine) => factMemory<{ at: string }>(engine, 'returned stops');

/** Stops when `work` resolves to false. Returns whether it came to the end. */
async function eachPage(push: PushRun, work: (plans: OutboxEntry[]) => Promise<boolean>): Promise<boolean> {
  const { context, engine } = push;
  const nowMs = context.dependencies.clock.now();
  const { at } = (await lastComplete(engine).read()) ?? {};
  const sinceMs = Math.min(nowMs, at === undefined ? nowMs : Date.parse(at));
  const span = { startedBy: push.now(), endedAfter: isoInstant(sinceMs - Number(context.options.lookback)) };
  for (let last: OutboxEntry | undefined; !context.signal.aborted; ) {
    const after = last;
    const plans = await engine.read((sql) => runningPlans(sql, span, after));
    if (plans.length === 0) return true;
    if (!(await work(plans))) return false;
    last = plans.at(-1);
  }
  return false;
}

async function notify(push: PushRun, changes: readonly Change[]): Promise<RoadbookError[]> {
  const stops = changes.flatMap(({ outcome }) => outcome ?? []);
  const failures = await notifyEach(async () => push.feed.source.returnExecutions?.(stops));
  const done = changes.filter((_, i) => !failures.has(i));
  push.context.counts.sent += done.length;
  await store(push, done);
  return [...failures.values()];
}

async function store({ context, engine, now }: PushRun, changes: readonly Change[]): Promise<void> {
  const rows = changes.map(({ row }) => ({ ...row, told_at: now(), run_id: context.runId }));
  await engine.write((tx) => tx.store(pushReturn, rows));
}

async function reportUncoded(push: PushRun, uncoded: readonly Change[]): Promise<void> {
  const stops = uncoded.reduce((sum, { row }) => sum + Number(row.status), 0);
  const plans = firstNames(
    uncoded.map(({ row }) => row.plan_external_code),
    MOST_NAMED,
  );
  const text = `${stops} stops have no external_code, so their outcome cannot be returned; plans: ${plans}`;
  const hint = 'Give every stop an external_code in the ERP; the outcomes of all other stops are returned.';
  const failure = new Skippable(text, { code: 'stops_without_code', hint });
  push.report(failure, 'stops cannot be returned', { stops, plans: uncoded.length });
  await store(push, uncoded);
}
