// One push run. Its order guarantees exactly once in effect: an entry that a dead process left in `sending` counts as sent
// without a clear answer; the feed is read to its end; a new item is sent only after a read-back, a change of a known one
// without; then what was sent is read back, and the ERP is notified.
import { Skippable } from '../../core/errors.ts';
import { countIn, deleteAged, dropOldPayloads, entriesIn } from '../../warehouse/outbox/queries.ts';
import type { RunContext, RunOutcome } from '../job.ts';
import { stoppedEarly } from '../run.ts';
import { acknowledgeOutcomes } from './acknowledge.ts';
import { reportAttention } from './attention.ts';
import { reportDeadline } from './deadline.ts';
import { ingestFeed } from './ingest.ts';
import { openPush, type PushKind, type PushRun } from './kind.ts';
import { afterSend, countOutcomes, factsOf, storeOutcomes } from './outcome.ts';
import { forgetOldUnread, reportPushIssues } from './push-issues.ts';
import { readBack } from './read-back.ts';
import { sendCleared } from './send.ts';

export async function executePush(kind: PushKind, context: RunContext): Promise<RunOutcome> {
  const push = await openPush(kind, context);
  if (push === undefined) return { failures: [], worked: true };
  await recover(push);
  await ingestFeed(push);
  // New items first: the read-back of unknown entries must not delay them.
  const { serviceIsAway } = await sendCleared(push, await readBack(push, 'ready'));
  const cleared = await readBack(push, serviceIsAway ? 'sent' : 'all');
  const again = await sendCleared(push, serviceIsAway ? [] : cleared);
  if (again.hasSent) await readBack(push, 'sent');
  await acknowledgeOutcomes(push);
  await reportDeadline(push);
  await reportAttention(push);
  reportPushIssues(push);
  return runOutcome(push);
}

/** The run holds the job's lease, so every entry in `sending` belongs to a dead process. */
async function recover(push: PushRun): Promise<void> {
  const { kind, engine, settings, context } = push;
  const facts = factsOf(push);
  const left = await engine.read((sql) => entriesIn(sql, kind.feed, 'sending'));
  const message = 'The process that sent it ended before the answer was stored';
  const answer = { verdict: { is: 'unclear', message } } as const;
  const outcomes = left.map((entry) => afterSend(entry, entry, answer, facts));
  const stored = await engine.write(async (tx) => {
    await dropOldPayloads(tx.sql, kind.feed, push.ago(settings.keep_rejected));
    await deleteAged(tx.sql, kind.feed, push.ago(settings.keep_confirmed));
    await forgetOldUnread(tx, push);
    return storeOutcomes(tx, push, outcomes);
  });
  countOutcomes(push, stored);
  if (left.length > 0) context.log.warn({ entries: left.length }, 'entries sent by a dead process must be read back');
}

async function runOutcome({ kind, context, engine, failures }: PushRun): Promise<RunOutcome> {
  const { counts, signal } = context;
  counts.unknown = await engine.read((sql) => countIn(sql, kind.feed, 'unknown'));
  if (signal.aborted)
    failures.unshift(stoppedEarly('Nothing is half done; the next run continues where this one stopped.'));
  const hasDone = counts.confirmed + counts.rejected + counts.inserted + counts.updated > 0;
  // A run that did its work and only found entries that need a person is partial, not failed.
  return { failures, worked: hasDone || failures.every((failure) => failure instanceof Skippable) };
}
