// Callers that come while a call is running share its result, so a burst of readers costs as much as one.

export function singleFlight<T>(make: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= make().finally(() => {
      running = undefined;
    });
    return running;
  };
}
