// A resource that is opened on first use and closed once, however many share it.

export type LazyResource<T> = ReturnType<typeof lazyResource<T>>;

export function lazyResource<T>(open: () => Promise<T>, close: (opened: T) => Promise<void> | void = () => undefined) {
  let opened: Promise<T> | undefined;
  return {
    /** The first call opens the resource; after a failure the next call tries again. */
    open(): Promise<T> {
      opened ??= open().catch((error) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    /** Idempotent and safe before any use. */
    async close(): Promise<void> {
      const mine = opened;
      opened = undefined;
      // A failure to open was already thrown to the caller of `open`.
      if (mine !== undefined) await mine.then(close, () => undefined);
    },
  };
}
