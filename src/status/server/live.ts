// One reader for all who watch: it asks while somebody is there and tells them when something changed. A watcher
// that is slow gets the newest state when it is ready for it; nothing is queued up for it.

import type { Log } from '../../core/log.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';

export interface LiveDependencies {
  clock: Clock;
  log: Log;
  /** What watchers are told, as JSON text; the same text as before is not told again. */
  read(): Promise<string>;
}

/** The state cannot be read: what was told before is not up to date. */
export interface Trouble {
  words: string;
  /** When the state was last read; null where it never was. */
  since: string | null;
}

type News = string | Trouble;

export interface Live {
  /** The state now, each change, trouble when it begins, and an undefined from time to time so that a dead line is noticed. */
  watch(signal: AbortSignal): AsyncGenerator<News | undefined>;
  watchers(): number;
  /** Looks at once instead of at the next turn. */
  nudge(): void;
  close(): void;
}

const EVERY_MS = 2_000;
/** A reading that takes longer is trouble, even if it does not fail. */
const SLOW_MS = 20_000;
const TROUBLE = 'The warehouse cannot be read; `roadbook doctor` says more';
/** Turns without news after which a sign of life is given. */
const QUIET_TURNS = 7;
export const MOST_WATCHERS = 100;

interface Watcher {
  next: News | undefined;
  hasNews: boolean;
  wake: () => void;
}

export function createLive({ clock, log, read }: LiveDependencies): Live {
  const watchers = new Set<Watcher>();
  const closed = new AbortController();
  let turn = new AbortController();
  let current: News | undefined;
  let lastReadAt: string | null = null;
  let isPolling = false;
  let isNudged = false;

  const tell = (watcher: Watcher, news: News | undefined): void => {
    watcher.next = news ?? watcher.next;
    watcher.hasNews = true;
    watcher.wake();
  };

  async function look(): Promise<News> {
    try {
      const text = await readInTime();
      lastReadAt = isoInstant(clock.now());
      return text;
    } catch (error) {
      // The same trouble as before is no news.
      if (typeof current === 'object') return current;
      log.warn({ err: error }, 'live state could not be read');
      return { words: TROUBLE, since: lastReadAt };
    }
  }

  async function readInTime(): Promise<string> {
    const inTime = new AbortController();
    const tooSlow = clock.sleep(SLOW_MS, inTime.signal).then(() => {
      throw new Error(`no answer within ${SLOW_MS / 1_000} s`);
    });
    try {
      return await Promise.race([read(), tooSlow]);
    } finally {
      tooSlow.catch(() => undefined);
      inTime.abort();
    }
  }

  async function poll(): Promise<void> {
    isPolling = true;
    for (let quiet = 0; watchers.size > 0 && !closed.signal.aborted; ) {
      isNudged = false;
      const news = await look();
      const isNew = news !== current;
      current = news;
      quiet = isNew ? 0 : quiet + 1;
      if (isNew || quiet % QUIET_TURNS === 0)
        for (const each of watchers) tell(each, isNew ? news : undefined);
      if (isNudged) continue;
      turn = new AbortController();
      await clock.sleep(EVERY_MS, turn.signal).catch(() => undefined);
    }
    isPolling = false;
    // Whoever comes next must not be given a state of long ago.
    current = undefined;
  }

  return {
    watchers: () => watchers.size,
    nudge() {
      isNudged = true;
      turn.abort();
    },
    close() {
      closed.abort();
      turn.abort();
      for (const watcher of watchers) watcher.wake();
    },
    async *watch(signal) {
      const watcher: Watcher = { next: current, hasNews: current !== undefined, wake: () => undefined };
      watchers.add(watcher);
      const onAbort = () => watcher.wake();
      signal.addEventListener('abort', onAbort, { once: true });
      if (!isPolling) void poll();
      try {
        while (!signal.aborted && !closed.signal.aborted) {
          if (!watcher.hasNews) {
            await new Promise<void>((resolve) => {
              watcher.wake = resolve;
            });
            continue;
          }
          const { next } = watcher;
          watcher.next = undefined;
          watcher.hasNews = false;
          yield next;
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
        watchers.delete(watcher);
        if (watchers.size === 0) turn.abort();
      }
    },
  };
}
