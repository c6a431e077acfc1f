// Files that are there whole or not at all, after a power cut too: the content is on disk before the file has its name,
// and the name before the promise resolves. Other processes may do the same at the same time.
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** Whoever reads `path` sees the old content or the new one, never a part. The folder is made where it is missing. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await makeFolder(dirname(path));
  const own = randomBytes(4).toString('hex');
  const draft = join(dirname(path), `.${basename(path)}.${own}.tmp`);
  try {
    const handle = await open(draft, 'wx');
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

/** Gives a draft, written by somebody else into the same folder, its name. */
export async function publishFile(draft: string, path: string): Promise<void> {
  await syncPath(draft);
  await moveFile(draft, path);
}

/** Of a file whose content is on disk. */
export async function moveFile(from: string, to: string): Promise<void> {
  await rename(from, to);
  for (const folder of new Set([dirname(to), dirname(from)])) await syncFolder(folder);
}

/** With those above it, where they are missing. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = resolve(folder); made.length >= resolve(first).length; made = dirname(made))
    await syncFolder(dirname(made));
}

/** After a file was made or moved in it. Windows cannot sync a folder and does without. */
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
