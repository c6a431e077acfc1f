// What became of items after their file was finished, such as an identifier that the service showed late or a retry by
// hand: one line of JSON each in `late-results.jsonl` of the drop folder, only ever appended.
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outcome } from '../source.ts';
import { toldOutcome } from './result.ts';

/** On disk before the promise resolves. A line that a crash cut off is ended first. */
export async function appendLateResults(
  folder: string,
  outcomes: readonly Outcome[],
  at: string,
): Promise<void> {
  if (outcomes.length === 0) return;
  await mkdir(folder, { recursive: true });
  const lines = outcomes.map((outcome) => `${JSON.stringify({ told_at: at, ...toldOutcome(outcome) })}\n`);
  const handle = await open(join(folder, 'late-results.jsonl'), 'a+');
  try {
    const { size } = await handle.stat();
    const last = await handle.read({ buffer: Buffer.alloc(1), position: Math.max(0, size - 1) });
    const isCutOff = last.bytesRead === 1 && last.buffer.toString() !== '\n';
    await handle.appendFile(`${isCutOff ? '\n' : ''}${lines.join('')}`);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}
