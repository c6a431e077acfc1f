// The result beside a finished file: the state of each item, and the read errors. Later outcomes of an item are appended
// to `late-results.jsonl`.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, syncFolder } from '../../core/atomic-file.ts';
import type { FileContent, ItemOutcome, ReadError } from '../source.ts';

/** An outcome in a result file or an HTTP call. */
export const reportedOutcome = (outcome: ItemOutcome) => ({
  external_code: outcome.externalCode,
  period_start: outcome.periodStart,
  state: outcome.state,
  remote_id: outcome.remoteId,
  message: outcome.message,
  reasons: outcome.reasons ?? [],
});

export const resultOf = (
  file: string,
  { readErrors }: FileContent,
  outcomes: readonly ItemOutcome[],
  instants: { read_at: string; finished_at: string },
) => ({
  file,
  ...instants,
  results: [...outcomes, ...unreadItems(readErrors)].map(reportedOutcome),
  /** Read errors that belong to no item. */
  faults: readErrors
    .filter(({ externalCode }) => externalCode === undefined)
    .map(({ origin, reason }) => ({ origin, reason })),
});

export type FileResult = ReturnType<typeof resultOf>;

/** Items that could not be read are rejected, each with all its reasons. */
function unreadItems(readErrors: readonly ReadError[]): ItemOutcome[] {
  const named = readErrors.filter(({ externalCode }) => externalCode !== undefined);
  const byItem = Map.groupBy(named, ({ externalCode, startDay }) => JSON.stringify([externalCode, startDay]));
  return [...byItem.values()].map((own) => ({
    externalCode: own[0]?.externalCode ?? '',
    periodStart: null,
    state: 'rejected',
    remoteId: null,
    message: 'could not be read',
    reasons: own.map(({ origin, reason }) => `${origin}: ${reason}`),
  }));
}

/**
 * Appends the outcomes of items whose file is already finished, such as an identifier that the service returned late or a
 * manual retry: one line of JSON each. The lines are on disk when the promise resolves. If a crash cut off the last line, a
 * line break is written first.
 */
export async function appendLateResults(folder: string, outcomes: readonly ItemOutcome[], at: string): Promise<void> {
  if (outcomes.length === 0) return;
  await makeFolder(folder);
  const lines = outcomes.map((outcome) => `${JSON.stringify({ told_at: at, ...reportedOutcome(outcome) })}\n`);
  const handle = await open(join(folder, 'late-results.jsonl'), 'a+');
  try {
    const { size } = await handle.stat();
    const last = await handle.read({ buffer: Buffer.alloc(1), position: Math.max(0, size - 1) });
    const isCutOff = last.bytesRead === 1 && last.buffer.toString() !== '\n';
    await handle.appendFile(`${isCutOff ? '\n' : ''}${lines.join('')}`);
    await handle.datasync();
    if (size === 0) await syncFolder(folder);
  } finally {
    await handle.close();
  }
}
