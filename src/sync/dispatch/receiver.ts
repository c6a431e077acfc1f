// Asks the queue for slices while this process has room for more: at most `workers` in all, and of each job as many as
// it may have. Slices of a job that this process does not know are given back once and then left to others.
import type { Clock } from '../../core/clock.ts';
import { asRoadbookError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Received } from './slice-queue.ts';

/** How often a process with room asks when nothing waited; what it put there itself it asks for at once. */
const ASK_MS = 500;

/** How long a process that is not able to work leaves all slices to others. */
const UNABLE_MS = 30_000;

export interface ReceiverParts {
  next(except: readonly string[]): Promise<Received | undefined>;
  /** Most slices at once. */
  workers: number;
  /** Most slices of the job at once; 0 for one that is not known here. */
  atOnce(job: string): number;
  /** Works one and ends it; false where this process is not able to work at present. */
  work(received: Received): Promise<boolean>;
  clock: Clock;
  log: Log;
}

export interface Receiver {
  start(): void;
  /** Receives no more; resolves when nothing is worked on. */
  stop(): Promise<void>;
  /** There may be something to receive. */
  ring(): void;
}

export function createReceiver({ next, workers, atOnce, work, clock, log }: ReceiverParts): Receiver {
  /** Slices under way by their job; jobs that were met stay in it. */
  const busy = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  /** Before that nothing is asked for. */
  let notBefore = 0;
  let bell = new AbortController();
  let stopping = new AbortController();
  let loop: Promise<void> = Promise.resolve();

  const ring = (): void => bell.abort();
  const full = (): string[] => [...busy].filter(([job, many]) => many >= atOnce(job)).map(([job]) => job);
  const warn = (thrown: unknown, what: string): void =>
    log.warn({ code: asRoadbookError(thrown).code }, what);

  function begin(received: Received): void {
    const { job } = received.message;
    const count = (change: number) => busy.set(job, (busy.get(job) ?? 0) + change);
    count(1);
    const worked = work(received)
      .then((isAble) => {
        if (!isAble) notBefore = clock.monotonic() + UNABLE_MS;
      })
      // It is given out again when its worker has shown no life for long enough.
      .catch((thrown) => warn(thrown, 'the queue could not be told of a slice'))
      .finally(() => {
        count(-1);
        underWay.delete(worked);
        ring();
      });
    underWay.add(worked);
  }

  /** True where it is worth asking again at once. */
  async function ask(signal: AbortSignal): Promise<boolean> {
    if (underWay.size >= workers || clock.monotonic() < notBefore) return false;
    const received = await next(full());
    if (received === undefined) return false;
    if (!signal.aborted && atOnce(received.message.job) > 0) begin(received);
    else {
      busy.set(received.message.job, busy.get(received.message.job) ?? 0);
      await received.end('stopped');
    }
    return true;
  }

  async function receive(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      bell = new AbortController();
      const isMore = await ask(signal).catch((thrown) => {
        warn(thrown, 'the queue could not be asked');
        return false;
      });
      const woken = AbortSignal.any([signal, bell.signal]);
      if (!isMore) await clock.sleep(ASK_MS, woken).catch(() => undefined);
    }
  }

  return {
    start() {
      stopping = new AbortController();
      loop = receive(stopping.signal);
    },
    async stop() {
      stopping.abort();
      await loop;
      await Promise.all(underWay);
    },
    ring,
  };
}
