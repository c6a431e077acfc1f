// Reads one dropped file, or an answer of the ERP. A workbook or a large JSON text is read in a child process with limits on
// memory and time: a file of some kilobytes may unpack to gigabytes or keep its parser busy for minutes, and the daemon must
// keep running. A thread is not enough: if a thread runs out of memory in a single step, the process dies. A file beyond the
// limits gives one read error and no item.
import { getCompileCacheDir } from 'node:module';
import { extname, resolve } from 'node:path';
import { type Child, startChild } from '../../core/child-process.ts';
import { Retriable } from '../../core/errors.ts';
import type { ParsedItem } from '../items/item.ts';
import type { FoundHeader } from '../source.ts';
import { type DropFile, type FileContext, readDropFile } from './drop-file.ts';

export interface ReadLimits {
  /** Heap limit of the process in megabytes. */
  heapMb: number;
  /** Time limit for reading the file to its end. */
  timeoutMs: number;
}

const LIMITS: ReadLimits = { heapMb: 768, timeoutMs: 120_000 };

const PROCESS = resolve(import.meta.dirname, 'drop-file-process.ts');

/** A smaller JSON file is parsed quickly, however deep or broken it is, and its records are read with turns in between. */
const LARGEST_INLINE_JSON = 1024 * 1024;

interface FileRequest {
  file: DropFile;
  context: FileContext;
}

/** The first request names the file; each further one asks for the next chunk. */
export type ReaderRequest = FileRequest | { isNext: true };

/** Parsed items as JSON texts, in the order of the file, or the error of the read. */
export type ReaderResponse = Chunk | { failure: { message: string; code: string | undefined } };

interface Chunk {
  /** Of the file; only with the first chunk. */
  headers?: FoundHeader[];
  parsedItems: string[];
  isLast: boolean;
}

export function readFileInLimits(
  file: DropFile,
  context: FileContext,
  { signal, limits = LIMITS }: { signal?: AbortSignal | undefined; limits?: ReadLimits } = {},
): AsyncIterable<ParsedItem> {
  const format = extname(file.path).toLowerCase();
  // CSV is read row by row and yields to the event loop, so it needs no process. It has no time limit either: the time grows
  // only with the size of the file, other jobs go on meanwhile, and the end of the run aborts the read.
  const isInline = format === '.csv' || (format === '.json' && file.size <= LARGEST_INLINE_JSON);
  return isInline ? readDropFile(file, context, signal) : readInProcess({ file, context }, limits, signal);
}

async function* readInProcess(first: FileRequest, limits: ReadLimits, signal?: AbortSignal): AsyncIterable<ParsedItem> {
  const reader = startChild<ReaderRequest, ReaderResponse>(PROCESS, [String(process.pid)], {
    execArgv: [`--max-old-space-size=${limits.heapMb}`],
    // Passes none of the secrets in the environment.
    env: { NODE_COMPILE_CACHE: getCompileCacheDir() },
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reader.kill();
  }, limits.timeoutMs);
  signal?.addEventListener('abort', reader.kill);
  try {
    let request: ReaderRequest = { ...first, context: { ...first.context, onHeader: undefined } };
    for (let isLast = false; !isLast; request = { isNext: true }) {
      const chunk = await nextChunk(reader, request);
      signal?.throwIfAborted();
      if (typeof chunk === 'string') {
        // A signal from outside says nothing about the file. After the first chunk, ending here would hide the other chunks.
        if ('isNext' in request || !(isLate || CRASHES.has(chunk))) throw endedFromOutside(first.file.name);
        yield { readError: { origin: first.file.name, reason: limitReason(isLate, limits) }, whole: 'too_large' };
        return;
      }
      // The file has been read to its end. The time limit does not apply to the consumer of the items.
      clearTimeout(timer);
      for (const header of chunk.headers ?? []) first.context.onHeader?.(header);
      for (const text of chunk.parsedItems) yield JSON.parse(text) as ParsedItem;
      isLast = chunk.isLast;
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', reader.kill);
    reader.kill();
    await reader.ended;
  }
}

/** Signals with which a process ends at its heap limit. */
const CRASHES: ReadonlySet<string> = new Set(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGBUS']);

/** The next chunk, or the signal that ended the process. */
async function nextChunk(
  reader: Child<ReaderRequest, ReaderResponse>,
  request: ReaderRequest,
): Promise<Chunk | NodeJS.Signals> {
  const response = (await reader.ask(request)) ?? (await reader.ended);
  if (typeof response === 'string') return response;
  if (response === null)
    throw new Error('The process that reads large files and answers ended or could not be started');
  if ('failure' in response) throw Object.assign(new Error(response.failure.message), response.failure);
  return response;
}

const endedFromOutside = (name: string): Retriable =>
  new Retriable(`The process that reads ${name} was killed from outside`, {
    code: 'erp_unavailable',
    hint: 'The next run reads it again; check whether this machine is short of memory.',
  });

const limitReason = (isLate: boolean, { heapMb, timeoutMs }: ReadLimits): string =>
  isLate
    ? `takes longer than ${timeoutMs / 1_000} s to read; split it, or write it as CSV`
    : `needs more than ${heapMb} MB of memory to read; split it, or write it as CSV`;
