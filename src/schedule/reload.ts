// Applies edits of the configuration file, one at a time. An invalid edit changes nothing: the last valid configuration
// stays in force, and the error is logged and stored until an edit is valid.
import PQueue from 'p-queue';
import { ConfigError } from '../config/faults.ts';
import type { Log } from '../core/log.ts';

export interface ReloadDependencies {
  /** Loads and applies the file; returns the changed settings. If the file is invalid, throws and changes nothing. */
  apply(): Promise<string[]>;
  /** Stores the error for other processes; null after a valid edit. */
  storeResult(error: ConfigError | null): Promise<void>;
  log: Log;
}

/** Resolves when the current file has been applied or rejected. */
export type Reload = (cause: 'edit' | 'signal') => Promise<void>;

export function createReload({ apply, storeResult, log }: ReloadDependencies): Reload {
  const queue = new PQueue({ concurrency: 1 });

  let lastError: string | undefined;

  async function reload(cause: string): Promise<void> {
    let changed: string[];
    try {
      changed = await apply();
    } catch (error) {
      // The same error again is logged at debug level only, unless a signal asked for the reload.
      const isNews = String(error) !== lastError || cause === 'signal';
      lastError = String(error);
      log[isNews ? 'error' : 'debug'](
        { event: 'config_refused', cause, err: error },
        'edit rejected; the last valid configuration stays in force',
      );
      if (!(error instanceof ConfigError)) throw error;
      return storeResult(error);
    }
    // A file saved without changes is logged at debug level only, unless a signal asked for it or it ends a rejection.
    const wasRejected = lastError !== undefined;
    const level = changed.length > 0 || cause === 'signal' || wasRejected ? 'info' : 'debug';
    const message = wasRejected ? 'the file is valid again; configuration applied' : 'configuration applied';
    log[level]({ event: 'config_reloaded', cause, changed }, message);
    lastError = undefined;
    await storeResult(null);
  }

  return (cause) =>
    queue.add(() => reload(cause).catch((error) => log.error({ err: error }, 'config state not stored')));
}
