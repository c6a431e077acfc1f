// The secret of the digests where the configuration has none: made once and kept in a file that only its owner
// reads. Beside the warehouse rather than in it, so that a copy of the warehouse does not tell it.
import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export async function privacySecret(file: string): Promise<string> {
  return (await readSecret(file)) ?? (await makeSecret(file));
}

async function makeSecret(file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
  // Linked, not renamed: of two processes that start together the first one's secret stays.
  await link(draft, file).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  return (await readSecret(file)) ?? '';
}

async function readSecret(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
