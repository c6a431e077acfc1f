// A part that is opened when first asked for and closed once, however many share it.

export interface LazyResource<T> {
  /** Tells the settings it is made with: two parts of one key are interchangeable. */
  readonly key: string;
  /** Opened by the first call; a failed opening is tried again by the next. */
  open(): Promise<T>;
  /** Idempotent and safe before any use. */
  close(): Promise<void>;
}

export function lazyResource<T>(
  key: string,
  open: () => Promise<T>,
  close: (opened: T) => Promise<void> | void,
): LazyResource<T> {
  let opened: Promise<T> | undefined;
  return {
    key,
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
      // What could not be opened was told to whoever asked for it.
      if (mine !== undefined) await mine.then(close, () => undefined);
    },
  };
}
