// Whoever asks while an answer is being made gets that one: a burst of readers costs as much as one.

export function createFlight<T>(make: () => Promise<T>): () => Promise<T> {
  let flight: Promise<T> | undefined;
  return () => {
    flight ??= make().finally(() => {
      flight = undefined;
    });
    return flight;
  };
}
