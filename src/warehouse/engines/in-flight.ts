// Reads that are under way. A pool that is destroyed under them would leave them waiting for a connection that nobody
// gives any more, and the process alive with them.

export interface InFlight {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when none is left. */
  idle(): Promise<void>;
}

export function createInFlight(): InFlight {
  const running = new Set<Promise<unknown>>();
  return {
    run(work) {
      const promise = work();
      const settled: Promise<unknown> = promise.then(
        () => running.delete(settled),
        () => running.delete(settled),
      );
      running.add(settled);
      return promise;
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
