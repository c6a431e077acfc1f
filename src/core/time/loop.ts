// Work that is done again and again, with a rest in between, until it is told to stop.
import type { Clock } from './clock.ts';

export interface Loop {
  start(): void;
  /** Idempotent and safe before start; resolves when the work that is under way has ended. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  /** Whether the first work comes after a rest; default: at once. */
  restFirst?: boolean;
}

/** `work` never throws. */
export function createLoop(
  clock: Clock,
  restMs: number,
  work: () => Promise<void>,
  { restFirst = false }: LoopOptions = {},
): Loop {
  const stopping = new AbortController();
  const rest = () => clock.sleep(restMs, stopping.signal).catch(() => undefined);
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    if (restFirst) await rest();
    while (!stopping.signal.aborted) {
      await work();
      await rest();
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
