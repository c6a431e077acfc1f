// One poll loop for all watchers. It runs while there is a watcher and notifies all of them of each change. A slow
// watcher gets the newest state when it is ready; nothing is queued for it.

import type { Log } from '../../core/log.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';

export interface LiveDependencies {
  clock: Clock;
  log: Log;
  /** The state as JSON text. The same text as before is not sent again. */
  read(): Promise<string>;
}

/** The state cannot be read, so the state that was sent last is out of date. */
export interface Trouble {
  words: string;
  /** When the state was last read; null if never. */
  since: string | null;
}

type News = string | Trouble;

export interface Live {
  /**
   * The current state, then each change. Trouble when a read fails. Undefined as a keep-alive, so that the stream is
   * written to and a dead connection is noticed.
   */
  watch(signal: AbortSignal): AsyncGenerator<News | undefined>;
  watchers(): number;
  /** Reads the state now instead of at the next poll. */
  nudge(): void;
  close(): void;
}

const EVERY_MS = 2_000;
/** A read that takes longer than this counts as failed. */
const SLOW_MS = 20_000;
const TROUBLE = 'The warehouse cannot be read; run `roadbook doctor`';
/** Polls without a change after which a keep-alive is sent. */
const QUIET_POLLS = 7;
export const MOST_WATCHERS = 100;

export function createLive({ clock, log, read }: LiveDependencies): Live {
  const closed = new AbortController();
  let turn = new AbortController();
  let current: News | undefined;
  let lastReadAt: string | null = null;
  let watchers = 0;
  let keepAlives = 0;
  let isPolling = false;
  let isNudged = false;
  let waiting = Promise.withResolvers<void>();

  const wakeWatchers = (): void => {
    waiting.resolve();
    waiting = Promise.withResolvers();
  };

  async function readNews(): Promise<News> {
    try {
      const text = await readWithTimeout();
      lastReadAt = isoInstant(clock.now());
      return text;
    } catch (error) {
      // Trouble is sent once, when it begins.
      if (typeof current === 'object') return current;
      log.warn({ err: error }, 'live state: read failed');
      return { words: TROUBLE, since: lastReadAt };
    }
  }

  async function readWithTimeout(): Promise<string> {
    const done = new AbortController();
    const timeout = clock.sleep(SLOW_MS, done.signal).then(() => {
      throw new Error(`no answer within ${SLOW_MS / 1_000} s`);
    });
    try {
      return await Promise.race([read(), timeout]);
    } finally {
      timeout.catch(() => undefined);
      done.abort();
    }
  }

  async function poll(): Promise<void> {
    isPolling = true;
    for (let quiet = 0; watchers > 0 && !closed.signal.aborted; ) {
      isNudged = false;
      const news = await readNews();
      const isNew = news !== current;
      current = news;
      quiet = isNew ? 0 : quiet + 1;
      if (!isNew && quiet % QUIET_POLLS === 0) keepAlives += 1;
      wakeWatchers();
      if (isNudged) continue;
      turn = new AbortController();
      await clock.sleep(EVERY_MS, turn.signal).catch(() => undefined);
    }
    isPolling = false;
    // The next watcher may come much later and must not get this old state.
    current = undefined;
  }

  return {
    watchers: () => watchers,
    nudge() {
      isNudged = true;
      turn.abort();
    },
    close() {
      closed.abort();
      turn.abort();
      wakeWatchers();
    },
    async *watch(signal) {
      let sent: News | undefined;
      let heard = keepAlives;
      watchers += 1;
      signal.addEventListener('abort', wakeWatchers, { once: true });
      if (!isPolling) void poll();
      try {
        while (!signal.aborted && !closed.signal.aborted) {
          if (sent !== current) {
            sent = current;
            yield sent;
          } else if (heard !== keepAlives) {
            heard = keepAlives;
            yield undefined;
          } else {
            await waiting.promise;
          }
        }
      } finally {
        signal.removeEventListener('abort', wakeWatchers);
        watchers -= 1;
        if (watchers === 0) turn.abort();
      }
    },
  };
}
