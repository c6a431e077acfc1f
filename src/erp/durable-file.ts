// Files that are appended to line by line, on disk before the promise resolves, and files that may be gone. Other
// processes may do the same at the same time.
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';

/** Tells one state of a file that only grows, or is replaced, from the next. */
export interface FileMark {
  ino: number;
  size: number;
}

export interface Appended {
  mark: FileMark;
  bytes: number;
}

/** Only to a file that is there: undefined where it is gone. A line that a crash cut off is ended first. */
export async function appendLines(path: string, lines: readonly string[]): Promise<Appended | undefined> {
  const handle = await orGone(open(path, constants.O_WRONLY | constants.O_APPEND));
  if (handle === undefined) return undefined;
  try {
    const bytes = Buffer.from(`\n${lines.join('\n')}\n`);
    await handle.appendFile(bytes);
    await handle.datasync();
    return { mark: markIn(await handle.stat()), bytes: bytes.length };
  } finally {
    await handle.close();
  }
}

export async function markOf(path: string): Promise<FileMark | undefined> {
  const found = await orGone(stat(path));
  return found && markIn(found);
}

const markIn = ({ ino, size }: FileMark): FileMark => ({ ino, size });

export async function exists(path: string): Promise<boolean> {
  return (await orGone(stat(path))) !== undefined;
}

/** Undefined where the file is not there. */
export async function orGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

export const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
