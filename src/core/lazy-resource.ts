// A resource that is opened on first use and closed once, however many share it.

export interface LazyResource<T> {
  /** The first call opens the resource; after a failure the next call tries again. */
  open(): Promise<T>;
  /** Idempotent and safe before any use. */
  close(): Promise<void>;
}

export function lazyResource<T>(
  open: () => Promise<T>,
  close: (opened: T) => Promise<void> | void = () => undefined,
): LazyResource<T> {
  let opened: Promise<T> | undefined;
  return {
    open() {
      opened ??= open().catch((error) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    async close() {
      const mine = opened;
      opened = undefined;
      // A failure to open was already thrown to the caller of `open`.
      if (mine !== undefined) await mine.then(close, () => undefined);
    },
  };
}
