// Files that may be gone: the ERP, a person or another process may have removed or moved them.
import { stat } from 'node:fs/promises';

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
