// Repeats work, with a pause after each repetition, until it is stopped.
import type { Clock } from './clock.ts';

export interface Loop {
  start(): void;
  /** Idempotent and safe before start; resolves when the current work has ended. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  /** Whether a pause comes before the first work. Default: false. */
  restFirst?: boolean;
}

/** `work` must not throw. */
export function createLoop(
  clock: Clock,
  pauseMs: number,
  work: () => Promise<void>,
  { restFirst = false }: LoopOptions = {},
): Loop {
  const stopping = new AbortController();
  const pause = () => clock.sleep(pauseMs, stopping.signal).catch(() => undefined);
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    if (restFirst) await pause();
    while (!stopping.signal.aborted) {
      await work();
      await pause();
    }
  }

  return {
    start() {
      running ??= run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
