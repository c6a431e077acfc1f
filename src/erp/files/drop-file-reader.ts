// Reads one dropped file. A workbook or a large JSON file is read in a process of its own, within limits of memory and
// time: a file of some kilobytes may unpack to gigabytes or keep its parser busy for minutes, and the daemon has to go on
// meanwhile. A thread would not do: one that runs out of memory in a single step takes the whole process with it.
// A file beyond the limits gives one fault and no item.
import { type ChildProcess, fork } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { extname, resolve } from 'node:path';
import { Retriable } from '../../core/errors.ts';
import type { Reading } from '../items/item.ts';
import type { ReaderContext } from '../rows/row-reader.ts';
import { type DropFile, readDropFile } from './drop-file.ts';

export interface ReadingLimits {
  /** Megabytes of the process's heap. */
  heapMb: number;
  /** How long the process may take to read the file to its end. */
  timeoutMs: number;
}

const LIMITS: ReadingLimits = { heapMb: 768, timeoutMs: 120_000 };

const PROCESS = resolve(import.meta.dirname, 'drop-file-process.ts');

/** A smaller JSON file is parsed within a tenth of a second at worst; a process takes longer to start. */
const LARGEST_INLINE_JSON = 1024 * 1024;

interface FileQuestion {
  file: DropFile;
  context: ReaderContext;
}

/** The file to read, then a request for each further chunk. */
export type Question = FileQuestion | { isNext: true };

/** Readings as JSON texts, in the order of the file; or what the reading threw. */
export type Answer = Chunk | { failure: { message: string; code: string | undefined } };

interface Chunk {
  readings: string[];
  isLast: boolean;
}

export function readFileInLimits(
  file: DropFile,
  context: ReaderContext,
  { signal, limits = LIMITS }: { signal?: AbortSignal | undefined; limits?: ReadingLimits } = {},
): AsyncIterable<Reading> {
  const format = extname(file.name).toLowerCase();
  // CSV is read row by row, with other work between two chunks of the file.
  const isInline = format === '.csv' || (format === '.json' && file.size <= LARGEST_INLINE_JSON);
  return isInline ? readDropFile(file, context) : readInProcess({ file, context }, limits, signal);
}

async function* readInProcess(
  file: FileQuestion,
  limits: ReadingLimits,
  signal?: AbortSignal,
): AsyncIterable<Reading> {
  const reader = startReader(limits);
  const ended = endOf(reader);
  let isLate = false;
  const kill = () => void reader.kill('SIGKILL');
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, limits.timeoutMs);
  signal?.addEventListener('abort', kill);
  try {
    let question: Question = file;
    for (let isLast = false; !isLast; question = { isNext: true }) {
      const chunk = await answerTo(reader, ended, question);
      signal?.throwIfAborted();
      if (typeof chunk === 'string') {
        // A signal from outside says nothing about the file, and a file that is given in part must not seem to end there.
        if (question !== file || !(isLate || CRASHES.has(chunk))) throw endedFromOutside(file.file.name);
        yield { fault: { origin: file.file.name, reason: limitReason(isLate, limits) } };
        return;
      }
      // The first answer comes when the file was read to its end; the limit is not for those who take the readings.
      clearTimeout(timer);
      for (const text of chunk.readings) yield JSON.parse(text) as Reading;
      isLast = chunk.isLast;
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', kill);
    kill();
    await ended;
  }
}

const startReader = ({ heapMb }: ReadingLimits): ChildProcess =>
  fork(PROCESS, {
    execArgv: [`--max-old-space-size=${heapMb}`],
    // None of the secrets that stand in the environment.
    env: { NODE_COMPILE_CACHE: getCompileCacheDir() },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });

/** The signal that ended the process; null where it ended by itself or could not be started. */
const endOf = (reader: ChildProcess): Promise<NodeJS.Signals | null> =>
  new Promise((resolve) => {
    reader.once('exit', (_code, signal) => resolve(signal));
    reader.on('error', () => resolve(null));
  });

/** The signals of a process that its own heap limit ends. */
const CRASHES: ReadonlySet<string> = new Set(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGBUS']);

/** The signal that ended the process, where it was ended. */
async function answerTo(
  reader: ChildProcess,
  ended: Promise<NodeJS.Signals | null>,
  question: Question,
): Promise<Chunk | NodeJS.Signals> {
  const answered = new Promise<Answer>((resolve) => reader.once('message', resolve));
  // A process that is gone is met below.
  reader.send(question, () => undefined);
  const answer = await Promise.race([answered, ended]);
  if (typeof answer === 'string') return answer;
  if (answer === null) throw new Error('The process that reads dropped files could not be started');
  if ('failure' in answer) throw Object.assign(new Error(answer.failure.message), answer.failure);
  return answer;
}

const endedFromOutside = (name: string): Retriable =>
  new Retriable(`The process that reads ${name} was ended from outside`, {
    code: 'erp_unavailable',
    hint: 'The file is read again by the next run; look for want of memory on this machine.',
  });

const limitReason = (isLate: boolean, { heapMb, timeoutMs }: ReadingLimits): string =>
  isLate
    ? `takes longer than ${timeoutMs / 1_000} s to read; split it, or write it as CSV`
    : `needs more than ${heapMb} MB of memory to read; split it, or write it as CSV`;
