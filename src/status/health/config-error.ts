// The error of the configuration file as stored by the daemon that rejected it. It holds only for the content that was
// rejected: a daemon reads a changed file within two seconds.
import { readFile } from 'node:fs/promises';
import { digestOf } from '../../config/watch.ts';
import type { ConfigState } from '../../warehouse/control/config-state.ts';

export async function rejectionOf(file: string, state: ConfigState | undefined): Promise<string | null> {
  if (state === undefined || state.rejected.length === 0) return null;
  const digest = digestOf(await readFile(file).catch(() => ''));
  return state.rejected.find((edit) => edit.digest === digest)?.error ?? null;
}
