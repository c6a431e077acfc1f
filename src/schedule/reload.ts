// Takes over an edited configuration, one edit at a time. A wrong edit changes nothing: the last good configuration
// goes on, and what is wrong is logged and remembered until an edit is right.
import PQueue from 'p-queue';
import { ConfigError } from '../config/faults.ts';
import type { Log } from '../core/log.ts';

export interface ReloadDependencies {
  /** Loads the file whole and takes it over; gives what changed. Throws, and has changed nothing, where it is wrong. */
  apply(): Promise<string[]>;
  /** Keeps what is wrong for other processes; null once it is right. */
  remember(refusal: ConfigError | null): Promise<void>;
  log: Log;
}

/** Resolves when the file, as it is now, has been taken over or refused. */
export type Reload = (cause: 'edit' | 'signal') => Promise<void>;

export function createReload({ apply, remember, log }: ReloadDependencies): Reload {
  const turns = new PQueue({ concurrency: 1 });

  let refusal: string | undefined;

  async function reload(cause: string): Promise<void> {
    let changed: string[];
    try {
      changed = await apply();
    } catch (error) {
      // The same fault twice is no news, unless somebody asked.
      const isNews = String(error) !== refusal || cause === 'signal';
      refusal = String(error);
      log[isNews ? 'error' : 'debug'](
        { event: 'config_refused', cause, err: error },
        'edit refused; the last good configuration goes on',
      );
      if (!(error instanceof ConfigError)) throw error;
      return remember(error);
    }
    // A file that was saved as it was is no news, unless somebody asked.
    const level = changed.length > 0 || cause === 'signal' ? 'info' : 'debug';
    log[level]({ event: 'config_reloaded', cause, changed }, 'configuration taken over');
    refusal = undefined;
    await remember(null);
  }

  return (cause) =>
    turns.add(() => reload(cause).catch((error) => log.error({ err: error }, 'config state not kept')));
}
