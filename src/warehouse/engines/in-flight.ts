// Tracks running reads. If a pool were destroyed under them, they would wait forever for a connection and keep the
// process alive.

export interface InFlight {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when no read is running. */
  idle(): Promise<void>;
}

export function createInFlight(): InFlight {
  const running = new Set<Promise<unknown>>();
  return {
    run(work) {
      const promise = work();
      const finished: Promise<unknown> = promise.then(
        () => running.delete(finished),
        () => running.delete(finished),
      );
      running.add(finished);
      return promise;
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
