// The secret of the digests, if the configuration has none. It is created once and stored in a file that only its owner
// can read. The file is not in the warehouse, so that a copy of the warehouse does not reveal the secret.
import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder, syncFolder } from '../../core/atomic-file.ts';
import { Fatal } from '../../core/errors.ts';

export async function privacySecret(file: string): Promise<string> {
  return (await readSecret(file)) ?? (await createSecret(file));
}

async function createSecret(file: string): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await makeFolder(dirname(file));
    await writeFile(draft, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
    // Link instead of rename: if two processes start together, the secret of the first stays.
    await link(draft, file).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await syncFolder(dirname(file));
  } catch (cause) {
    throw secretError(file, 'written', cause);
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
  return privacySecret(file);
}

async function readSecret(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch((cause) => {
    if (cause.code === 'ENOENT') return undefined;
    throw secretError(file, 'read', cause);
  });
  if (text?.trim() === '') throw emptySecret(file);
  return text?.trim();
}

const emptySecret = (file: string): Fatal =>
  new Fatal(`The secret of the digests in ${file} is empty`, {
    code: 'secret_unreadable',
    hint: 'Restore the file from a backup, or set privacy.secret. Delete the file only if the warehouse is new.',
  });

const secretError = (file: string, what: 'read' | 'written', cause: unknown): Fatal =>
  new Fatal(`The secret of the digests in ${file} cannot be ${what} (${(cause as NodeJS.ErrnoException).code})`, {
    code: `secret_un${what === 'read' ? 'readable' : 'writable'}`,
    hint: 'Check the disk and the permissions of this user, or set privacy.secret.',
    cause,
  });
