// A failure of the file system under a drop folder, in plain words with its code.
import { Fatal, Retriable } from '../../core/errors.ts';

/** Anything that is not the file system's stays as it is. */
export function folderFailure(thrown: unknown, folder: string): unknown {
  const { code, syscall } = (thrown ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== 'string' || syscall === undefined) return thrown;
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) {
    return new Retriable(`The disk of the drop folder ${folder} is full (${code})`, {
      code: 'erp_folder_full',
      hint: 'Free disk space; nothing that was stored is lost.',
    });
  }
  return new Fatal(`The drop folder ${folder} cannot be used (${syscall}, ${code})`, {
    code: 'erp_folder_unusable',
    hint: 'Check that the folder and its sub-folders exist on one disk and that this user may write to them.',
  });
}

/** Runs `work`; a failure of the file system leaves in plain words. */
export async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw folderFailure(thrown, folder);
  }
}
