// Calls that wait for their turn: the most urgent first, among equals in the order they came.

export interface WaitingLine {
  readonly length: number;
  /** Resolves when it is let in; rejects when its signal aborts first. */
  join(priority: number, signal: AbortSignal | undefined): Promise<void>;
  /** Lets the first in. */
  admitFirst(): void;
  /** How urgent the call at that place is; 0 where there is none. */
  priorityAt(place: number): number;
  /** Sends away with `error` all who came until then. */
  refuse(error: () => Error, cameUntilMs?: number): void;
}

interface Waiter {
  priority: number;
  sinceMs: number;
  start(): void;
  fail(error: unknown): void;
}

export function createWaitingLine(nowMs: () => number): WaitingLine {
  const line: Waiter[] = [];
  return {
    get length() {
      return line.length;
    },
    join: (priority, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const leave = () => {
          line.splice(line.indexOf(waiter), 1);
          signal?.removeEventListener('abort', onAbort);
        };
        const waiter: Waiter = {
          priority,
          sinceMs: nowMs(),
          start() {
            leave();
            resolve();
          },
          fail(error) {
            leave();
            reject(error);
          },
        };
        const onAbort = () => waiter.fail(signal?.reason);
        signal?.addEventListener('abort', onAbort, { once: true });
        const behind = line.findIndex((other) => other.priority < priority);
        line.splice(behind < 0 ? line.length : behind, 0, waiter);
      }),
    admitFirst: () => line[0]?.start(),
    priorityAt: (place) => line[place]?.priority ?? 0,
    refuse(error, cameUntilMs = Number.POSITIVE_INFINITY) {
      for (const waiter of line.filter(({ sinceMs }) => sinceMs <= cameUntilMs)) waiter.fail(error());
    },
  };
}
