// The dispatchers by the names that the configuration uses.
import { asRoadbookError, Fatal } from '../../core/errors.ts';
import type { QueueHome } from '../../warehouse/engine.ts';
import type { Dispatcher } from './dispatcher.ts';
import { localDispatcher } from './local.ts';
import { createQueuedDispatcher, type QueuedOptions } from './queued.ts';

export interface ScaleSettings {
  dispatcher: 'local' | 'pg-boss';
  /** Slices at once in this process, where they come from a queue. */
  workers: number;
}

interface Surroundings extends Pick<QueuedOptions, 'find' | 'during' | 'log'> {
  /** Where the warehouse has room for a queue. */
  home(): Promise<QueueHome | undefined>;
}

/** Opens nothing yet. */
export function dispatcherFor({ dispatcher, workers }: ScaleSettings, around: Surroundings): Dispatcher {
  if (dispatcher === 'local') return localDispatcher;
  const { log } = around;
  const open = async () => {
    const home = await around.home();
    if (home === undefined) throw new Fatal('The warehouse has no room for a queue', { code: 'unexpected' });
    // Loaded where it is used: every other start of a command would wait for it.
    const { openPgBoss } = await import('./pg-boss.ts');
    return openPgBoss(home, { log });
  };
  const queued = createQueuedDispatcher({ ...around, open, workers });
  return {
    ...queued,
    // Who only counts makes no queue, and does without where it cannot be read.
    async facts() {
      try {
        const isMade = await (await around.home())?.isMade();
        return isMade === true ? await queued.facts() : null;
      } catch (thrown) {
        log.debug({ code: asRoadbookError(thrown).code }, 'the queue could not be counted');
        return null;
      }
    },
  };
}
