// Files that survive a crash at any instant: replaced whole by a rename, or appended to line by line, and on
// disk before the promise resolves.
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Whoever reads `path` sees the old text or the new one, never a part. The folder is made where it is missing. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  const handle = await open(temporary, 'w');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
}

export async function appendLines(path: string, lines: readonly string[]): Promise<void> {
  const handle = await open(path, 'a');
  try {
    await handle.appendFile(lines.map((line) => `${line}\n`).join(''));
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

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
