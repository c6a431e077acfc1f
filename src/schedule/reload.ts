// Applies edits of the configuration file, one at a time. An invalid edit changes nothing: the last valid configuration
// stays in force, and the error is logged and stored until an edit is valid. An edit that could not be applied or stored,
// because the warehouse is away, is tried again.
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

/** Resolves when the current file has been applied or rejected: true if that is stored, false if it must be tried again. */
export type Reload = (cause: 'edit' | 'signal') => Promise<boolean>;

export function createReload({ apply, storeResult, log }: ReloadDependencies): Reload {
  const queue = new PQueue({ concurrency: 1 });

  let lastError: string | undefined;
  let isStored = true;

  async function store(error: ConfigError | null): Promise<boolean> {
    const wasStored = isStored;
    isStored = await storeResult(error).then(
      () => true,
      (thrown) => {
        log[wasStored ? 'error' : 'debug']({ err: thrown }, 'config state not stored; it is tried again');
        return false;
      },
    );
    return isStored;
  }

  async function reload(cause: string): Promise<boolean> {
    let changed: string[];
    try {
      changed = await apply();
    } catch (error) {
      // The same error again is logged at debug level only, unless a signal asked for the reload.
      const isNews = String(error) !== lastError || cause === 'signal';
      lastError = String(error);
      const level = isNews ? 'error' : 'debug';
      if (!(error instanceof ConfigError)) {
        log[level]({ event: 'config_postponed', cause, err: error }, 'edit could not be applied; it is tried again');
        return false;
      }
      log[level](
        { event: 'config_rejected', cause, err: error },
        'edit rejected; the last valid configuration stays in force',
      );
      return store(error);
    }
    // A file saved without changes is logged at debug level only, unless a signal asked for it or it ends a rejection.
    const wasRejected = lastError !== undefined;
    const level = changed.length > 0 || cause === 'signal' || wasRejected ? 'info' : 'debug';
    const message = wasRejected ? 'configuration applied, the error is over' : 'configuration applied';
    log[level]({ event: 'config_reloaded', cause, changed }, message);
    lastError = undefined;
    return store(null);
  }

  return (cause) => queue.add(() => reload(cause));
}
