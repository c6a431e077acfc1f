// The secret of the digests where the configuration has none: made once and kept in a file that only its owner
// reads. Beside the warehouse rather than in it, so that a copy of the warehouse does not tell it.
import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Fatal } from '../../core/errors.ts';

export async function privacySecret(file: string): Promise<string> {
  return (await readSecret(file)) ?? (await makeSecret(file));
}

async function makeSecret(file: string): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(draft, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
    // Linked, not renamed: of two processes that start together the first one's secret stays.
    await link(draft, file).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } catch (cause) {
    throw useless(file, 'written', cause);
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
  return (await readSecret(file)) ?? '';
}

async function readSecret(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw useless(file, 'read', cause);
  }
}

const useless = (file: string, what: 'read' | 'written', cause: unknown): Fatal =>
  new Fatal(
    `The secret of the digests in ${file} cannot be ${what} (${(cause as NodeJS.ErrnoException).code})`,
    {
      code: `secret_un${what === 'read' ? 'readable' : 'writable'}`,
      hint: 'Check the disk and the rights of this user, or set privacy.secret.',
      cause,
    },
  );
