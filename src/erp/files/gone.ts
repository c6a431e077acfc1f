// For files that the ERP, a person or another process may remove or move at any time.
import { stat } from 'node:fs/promises';

export async function exists(path: string): Promise<boolean> {
  return (await ifExists(stat(path))) !== undefined;
}

/** Undefined if the file does not exist. */
export async function ifExists<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

export const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
