// The child process that reads one dropped file (drop-file-reader.ts). It sends nothing before it has read the file to its
// end, so that a file beyond the limits gives no item. Then it sends one bounded chunk per request.
import { flushCompileCache } from 'node:module';
import { Worker } from 'node:worker_threads';
import { inSizeLimit } from '../items/item.ts';
import type { FoundHeader } from '../source.ts';
import { readDropFile } from './drop-file.ts';
import type { ReaderRequest, ReaderResponse } from './drop-file-reader.ts';

/** Characters per response; the daemon parses a response in one step. */
const LARGEST_CHUNK = 256 * 1024;

let chunks: string[][] = [];

process.on('message', async (request: ReaderRequest) => process.send?.(await responseTo(request)));
process.on('disconnect', () => process.exit());
// A busy parser keeps this thread from noticing that the daemon was killed.
const WATCH = `setInterval(() => process.ppid === ${process.argv[2]} || process.kill(process.pid, 'SIGKILL'), 1_000)`;
new Worker(WATCH, { eval: true }).unref();
// Ctrl-C reaches every process of a terminal, but only the parent decides when the read ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

async function responseTo(request: ReaderRequest): Promise<ReaderResponse> {
  try {
    const headers: FoundHeader[] = [];
    if ('file' in request) {
      chunks = await readChunks(request, (header) => void headers.push(header));
      // The parent kills this process after the last chunk: node would store nothing, and every file would compile it anew.
      flushCompileCache();
    }
    return {
      headers,
      parsedItems: chunks.shift() ?? [],
      isLast: chunks.length === 0,
    };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { failure: { message, code } };
  }
}

async function readChunks(
  { file, context }: Extract<ReaderRequest, { file: unknown }>,
  onHeader: (header: FoundHeader) => void,
): Promise<string[][]> {
  let chunk: string[] = [];
  const all = [chunk];
  let size = 0;
  for await (const parsed of readDropFile(file, { ...context, onHeader })) {
    const text = JSON.stringify(inSizeLimit(parsed)[0]);
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
