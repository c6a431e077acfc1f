// Stores pictures as files named by our own digest of their content, so that no text of the service becomes part of a
// path and equal pictures share one file. A file is complete and on disk before it gets its name.
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../core/atomic-file.ts';
import { Fatal } from '../core/errors.ts';

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

/** `file` is below the images folder, with forward slashes. */
export async function storePicture(folder: string, bytes: Uint8Array, contentType: string | undefined) {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const file = `${sha256.slice(0, 2)}/${sha256}.${EXTENSIONS[contentType ?? ''] ?? 'bin'}`;
  const path = join(folder, file);
  try {
    const stored = await stat(path).catch(() => undefined);
    if (stored?.size !== bytes.length) await replaceFile(path, bytes);
  } catch (cause) {
    throw new Fatal(`Pictures cannot be stored in ${folder} (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`, {
      code: 'images_unwritable',
      hint: 'Check warehouse.images, its permissions and the space on its disk.',
      cause,
    });
  }
  return { sha256, file, bytes: bytes.length };
}
