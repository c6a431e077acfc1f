// Holds the batches of a feed until the feed is read to its end: the first in memory, the others in a temporary file. The
// file is unlinked as soon as it is open, so a process that dies leaves nothing behind. Memory stays bounded: one part is in
// memory at a time beside the first, and erp/batches.ts limits the size of a part.
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function createSpool<T>() {
  let first: T | undefined;
  let file: FileHandle | undefined;

  async function clear(): Promise<void> {
    first = undefined;
    await file?.close();
    file = undefined;
  }

  return {
    async add(part: T): Promise<void> {
      if (first === undefined) {
        first = part;
        return;
      }
      file ??= await unlinkedFile();
      await file.appendFile(`${oneLine(part)}\n`);
    },
    /** All parts in order; the spool is empty afterwards. */
    async *drain(): AsyncIterable<T> {
      if (first !== undefined) yield first;
      first = undefined;
      if (file !== undefined)
        for await (const line of file.readLines({ start: 0, autoClose: false })) yield JSON.parse(line) as T;
      await clear();
    },
    clear,
  };
}

/** JSON may contain U+2028 and U+2029, and a reader of lines takes them for line ends. */
const oneLine = (part: unknown): string =>
  JSON.stringify(part).replace(/[\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16)}`);

async function unlinkedFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `roadbook-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await rm(path);
  return file;
}
