// A question about one entry that the service does not answer: it is told in the story of that entry, and the others
// do not wait for it.
import { asRoadbookError, Fatal, type RoadbookError } from '../../core/errors.ts';
import { isInDoubt, type OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { noteReading } from '../../warehouse/push-attempts.ts';
import type { PushRun } from './push-run.ts';

/** What may be at the service could not be looked for. */
export async function noteUnreadable(
  push: PushRun,
  entries: readonly OutboxEntry[],
  failure: RoadbookError,
): Promise<void> {
  const { runId, parts } = push.context;
  const message = parts.redactor.redact(failure.message);
  const end = { outcome: 'unreadable', message, error_code: failure.code } as const;
  await parts.engine.write(async (tx) => {
    for (const entry of entries) {
      if (entry.state === 'unknown' || (entry.state === 'ready' && isInDoubt(entry)))
        await noteReading(tx, entry, end, { runId, at: push.now() });
    }
  });
}

/** Undefined where the service does not answer. */
export async function askAbout<Answer>(
  push: PushRun,
  entry: OutboxEntry,
  ask: () => Promise<Answer>,
): Promise<{ answer: Answer } | undefined> {
  const { failures, context } = push;
  try {
    return { answer: await ask() };
  } catch (thrown) {
    const failure = asRoadbookError(thrown);
    if (context.signal.aborted || isForAll(failure)) throw thrown;
    context.log.warn({ external_code: entry.external_code, err: failure }, 'could not be looked for');
    if (!failures.includes(failure)) failures.push(failure);
    await noteUnreadable(push, [entry], failure);
    return undefined;
  }
}

/** The search before it was answered: that one question is forbidden says nothing of the others. */
const isForAll = (failure: RoadbookError): boolean =>
  failure instanceof Fatal && failure.code !== 'forbidden';
