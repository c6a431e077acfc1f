// What is wrong with the configuration file, by the word of the daemon that refused it. A file that has changed
// since is another matter: a daemon will have read it within two seconds.
import { readFile } from 'node:fs/promises';
import { digestOf } from '../../config/watch.ts';
import type { ConfigState } from '../../warehouse/control/config-state.ts';

export async function refusalOf(file: string, state: ConfigState | undefined): Promise<string | null> {
  if (state === undefined || state.refused === null) return null;
  const digest = digestOf(await readFile(file).catch(() => ''));
  return state.refused.digest === digest ? state.refused.error : null;
}
