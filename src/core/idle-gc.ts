// What a process does once nothing has been under way for a while: it gives memory back. V8 keeps what start and work
// made it take, room for new objects and code that ran once, until somebody asks; between two runs nobody would.
import type { Clock } from './time/clock.ts';

export interface IdleGc {
  /** Not at rest while this is under way. */
  during<T>(work: () => Promise<T>): Promise<T>;
  start(): void;
  /** Idempotent and safe before start. */
  stop(): void;
}

export interface IdleGcOptions {
  clock: Clock;
  /** What is done at rest, once after each time of work. */
  settle?: () => void;
}

/** Long enough that runs which follow each other are not held up in between. */
export const IDLE_AFTER_MS = 8_000;

export function createIdleGc({ clock, settle = giveMemoryBack }: IdleGcOptions): IdleGc {
  let isStarted = false;
  let underWay = 0;
  let wake = new AbortController();

  function waitIdle(): void {
    if (!isStarted || underWay > 0) return;
    wake = new AbortController();
    clock.sleep(IDLE_AFTER_MS, wake.signal).then(settle, () => undefined);
  }

  return {
    async during(work) {
      underWay += 1;
      wake.abort();
      try {
        return await work();
      } finally {
        underWay -= 1;
        waitIdle();
      }
    },
    start() {
      isStarted = true;
      waitIdle();
    },
    stop() {
      isStarted = false;
      wake.abort();
    },
  };
}

/** Takes a tenth of a second of the event loop. Only where node runs with --expose-gc, as in src/roadbook.js. */
function giveMemoryBack(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
