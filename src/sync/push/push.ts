// One push run, in the order that keeps the promise: what a dead process left is unknown; the feed is taken; the
// service is searched before anything is sent; then it is searched again, and the ERP is told.

import { isoInstant } from '../../core/clock.ts';
import { Fatal } from '../../core/errors.ts';
import { dropOldPayloads, forgetChecks, recoverSending } from '../../warehouse/outbox.ts';
import { abandonDeadRuns } from '../../warehouse/run-log.ts';
import type { RunContext, RunOutcome } from '../job.ts';
import { guardDeadline } from './push-deadline.ts';
import { isPassing } from './push-failure.ts';
import { takeFeed } from './push-feed.ts';
import type { PushKind } from './push-kind.ts';
import { lookAtService } from './push-look.ts';
import { openPush, type PushRun } from './push-run.ts';
import { sendReady } from './push-send.ts';
import { tellOutcomes } from './push-telling.ts';

export async function executePush(kind: PushKind, context: RunContext): Promise<RunOutcome> {
  const feed = await context.parts.erp(kind.feed);
  if (feed === undefined) {
    context.log.debug({ feed: kind.feed }, 'no feed in the configuration; nothing to push');
    return { failures: [], worked: true };
  }
  const push = await openPush(kind, feed, context);
  await recover(push);
  await takeFeed(push);
  await sendInRounds(push);
  await lookAtService(push, { beforeSending: false });
  await tellOutcomes(push);
  await guardDeadline(push);
  return outcomeOf(push);
}

const MOST_ROUNDS = 2;

/** What was turned away is searched for, and sent once more where it is not there. */
async function sendInRounds(push: PushRun): Promise<void> {
  const { kind, context } = push;
  for (let round = 1; !context.signal.aborted; round++) {
    if (round > 1 && kind.hasTwins === true)
      await forgetChecks(context.parts.engine, kind.feed, context.runId);
    await lookAtService(push, { beforeSending: true });
    const isLastRound = round === MOST_ROUNDS;
    const turnedAway = await sendReady(push, { isLastRound });
    if (turnedAway.length === 0) return;
    if (!isLastRound && turnedAway.every(isPassing)) continue;
    push.failures.push(...turnedAway);
    return;
  }
}

async function recover(push: PushRun): Promise<void> {
  const { kind, context, settings } = push;
  const { engine, clock } = context.parts;
  await abandonDeadRuns(engine, push.now());
  const left = await recoverSending(engine, kind.feed, push.now());
  if (left.length > 0)
    context.log.warn({ entries: left.length }, 'sends of a dead process have to be read back');
  await dropOldPayloads(engine, kind.feed, isoInstant(clock.now() - settings.keep_refused));
}

async function outcomeOf({ kind, context, failures }: PushRun): Promise<RunOutcome> {
  const { counts, signal, parts } = context;
  counts.unknown = await parts.engine.read(async (sql) => {
    const [row] = await sql('push_outbox').where({ kind: kind.feed, state: 'unknown' }).count({ n: '*' });
    return Number(row?.n ?? 0);
  });
  if (signal.aborted) failures.push(stoppedEarly());
  return { failures, worked: counts.confirmed + counts.rejected + counts.inserted + counts.updated > 0 };
}

const stoppedEarly = (): Fatal =>
  new Fatal('Stopped before it was finished', {
    code: 'stopped',
    hint: 'Nothing is half done; the next run goes on where this one stopped.',
  });
