// The process that reads one dropped file (drop-file-reader.ts). It answers once the file was read to its end, so that a
// file beyond the limits gives no item; then it hands over a bounded chunk for each question.

import { LARGEST_ITEM, type Reading, TOO_LARGE } from '../items/item.ts';
import { readDropFile } from './drop-file.ts';
import type { Answer, Question } from './drop-file-reader.ts';

/** Characters of one answer; the daemon parses them at once. */
const LARGEST_CHUNK = 256 * 1024;

let chunks: string[][] = [];

process.on('message', async (question: Question) => process.send?.(await answerTo(question)));
process.on('disconnect', () => process.exit());
// Ctrl-C goes to every process of a terminal; the one that asked for the file says when its reading ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

async function answerTo(question: Question): Promise<Answer> {
  try {
    if ('file' in question) chunks = await readChunks(question);
    return { readings: chunks.shift() ?? [], isLast: chunks.length === 0 };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { failure: { message, code } };
  }
}

async function readChunks({ file, context }: Extract<Question, { file: unknown }>): Promise<string[][]> {
  let chunk: string[] = [];
  const all = [chunk];
  let size = 0;
  for await (const reading of readDropFile(file, context)) {
    const text = bounded(reading);
    if (size + text.length > LARGEST_CHUNK) {
      chunk = [];
      all.push(chunk);
      size = 0;
    }
    chunk.push(text);
    size += text.length;
  }
  return all;
}

function bounded(reading: Reading): string {
  const text = JSON.stringify(reading);
  if ('fault' in reading || text.length <= LARGEST_ITEM) return text;
  const { origin, externalCode, startDay } = reading.item;
  const fault = { origin, externalCode, ...(startDay !== '' && { startDay }), reason: TOO_LARGE };
  return JSON.stringify({ fault });
}
