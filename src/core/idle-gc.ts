// Frees memory when the process has been idle for a while. V8 keeps the heap space and the compiled code of past work until
// a full garbage collection, which does not happen by itself between two runs.
import type { Clock } from './time/clock.ts';

/** Long enough not to delay runs that follow each other. */
export const IDLE_AFTER_MS = 8_000;

/** Calls `collect` once after each period of work. */
export function createIdleGc({ clock, collect = collectGarbage }: { clock: Clock; collect?: () => void }) {
  let isStarted = false;
  let active = 0;
  let wake = new AbortController();

  function waitIdle(): void {
    if (!isStarted || active > 0) return;
    wake = new AbortController();
    clock.sleep(IDLE_AFTER_MS, wake.signal).then(collect, () => undefined);
  }

  return {
    /** The process is not idle while `work` runs. */
    async during<T>(work: () => Promise<T>): Promise<T> {
      active += 1;
      wake.abort();
      try {
        return await work();
      } finally {
        active -= 1;
        waitIdle();
      }
    },
    start(): void {
      isStarted = true;
      waitIdle();
    },
    /** Idempotent and safe before start. */
    stop(): void {
      isStarted = false;
      wake.abort();
    },
  };
}

/** Blocks the event loop for about 0.1 s. Has an effect only with --expose-gc, see src/roadbook.js. */
function collectGarbage(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
