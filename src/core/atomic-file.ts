// Atomic file writes that survive a power cut: the content is synced to disk before the file gets its name, and the name
// before the promise resolves. Several processes may write the same file at once.
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * A reader of `path` sees the old content or the new one, never a part. Creates the folder if it is missing. `mode` are the
 * permissions of the file, default as for every new file.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array | AsyncIterable<string>,
  mode?: number,
): Promise<void> {
  await makeFolder(dirname(path));
  const draft = draftOf(path);
  try {
    const handle = await open(draft, 'wx', mode);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await moveFile(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** A new file beside `path`. No other process writes to it. */
export const draftOf = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.tmp`);

/** Whether a file has the name of a draft; a crash may leave one. */
export const isDraft = (name: string): boolean => /^\..*\.[0-9a-f]{8}\.tmp$/.test(name);

/** Syncs a draft in the same folder and renames it to `path`. */
export async function publishFile(draft: string, path: string): Promise<void> {
  await syncPath(draft);
  await moveFile(draft, path);
}

/** For a file whose content is already synced. */
export async function moveFile(from: string, to: string): Promise<void> {
  await rename(from, to);
  for (const folder of new Set([dirname(to), dirname(from)])) await syncFolder(folder);
}

/** Creates missing parent folders too. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = resolve(folder); made.length >= resolve(first).length; made = dirname(made))
    await syncFolder(dirname(made));
}

/** Needed after a file was created or moved in the folder. Windows cannot sync a folder. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform !== 'win32') await syncPath(folder);
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
