// How hard one account is pressed: its limiter, made when the service is first opened, and its limits as they are now.
import { randomUUID } from 'node:crypto';
import type { Clock } from './clock.ts';
import { createLimiter, type Limiter, type Limits } from './limiter.ts';
import type { Log } from './log.ts';
import { createPart } from './part.ts';
import { createSharedLimiter } from './shared-limiter.ts';
import type { RateBook } from './shared-rate.ts';

export interface Pressure {
  readonly account: string;
  limiter(): Promise<Limiter>;
  change(limits: Limits): void;
  /** Idempotent and safe before any use. */
  close(): Promise<void>;
}

export interface PressureParts {
  clock: Clock;
  log: Log;
  /** The rate that is shared with other processes; undefined where it is this process's own. */
  book(): Promise<RateBook | undefined>;
}

export function createPressure(
  account: string,
  first: Limits,
  { clock, log, book }: PressureParts,
): Pressure {
  let limits = first;
  let made: Limiter | undefined;
  const part = createPart(
    account,
    async () => {
      const shared = await book();
      made =
        shared === undefined
          ? createLimiter({ ...limits, clock })
          : createSharedLimiter({ ...limits, clock, log, book: shared, id: randomUUID() });
      return made;
    },
    (limiter) => limiter.close(),
  );
  return {
    account,
    limiter: part.open,
    change(next) {
      limits = next;
      made?.change(next);
    },
    close: part.close,
  };
}
