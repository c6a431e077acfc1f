// Work that is done again and again, with a rest in between, until it is told to stop.
import type { Clock } from './clock.ts';

export interface Loop {
  start(): void;
  /** Idempotent and safe before start; resolves when the work that is under way has ended. */
  stop(): Promise<void>;
}

/** `work` never throws. */
export function createLoop(clock: Clock, restMs: number, work: () => Promise<void>): Loop {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await work();
      await clock.sleep(restMs, stopping.signal).catch(() => undefined);
    }
  }

  return {
    start() {
      running = run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
