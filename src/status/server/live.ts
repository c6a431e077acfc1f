// One poll loop for all watchers. It runs while there is a watcher and notifies all of them of each change. A slow
// watcher gets the changes up to the newest state when it is ready; nothing is queued for it.

import { isoInstant, within } from '../../core/time/clock.ts';
import { type Change, changesBetween } from './changes.ts';
import type { StatusServerDependencies } from './dependencies.ts';

interface LiveDependencies extends Pick<StatusServerDependencies, 'clock' | 'log'> {
  /** The state, a JSON document. */
  read(): Promise<object>;
}

/** The state cannot be read, so the state that was sent last is out of date. */
export interface Trouble {
  words: string;
  /** When the state was last read; null if never. */
  since: string | null;
}

/** What a watcher is sent. `alive` while nothing changes: a watcher that hears nothing for 10 s knows that the daemon hangs. */
export type News =
  | { event: 'overview'; data: object }
  | { event: 'change'; data: { at: string; changes: Change[] } }
  | { event: 'trouble'; data: Trouble }
  | { event: 'alive'; data: { at: string } };

export type Live = ReturnType<typeof createLive>;

const EVERY_MS = 2_000;
/** A read that takes longer than this counts as failed. */
const SLOW_MS = 20_000;
const TROUBLE = 'The warehouse cannot be read; run `roadbook doctor`';
/** Time without a change after which `alive` is sent, also while a read takes long. */
const ALIVE_MS = 4_000;
export const MOST_WATCHERS = 100;

export function createLive({ clock, log, read }: LiveDependencies) {
  const closed = new AbortController();
  let turn = new AbortController();
  let current: { state: object } | { trouble: Trouble } | undefined;
  let lastReadAt: string | null = null;
  let watchers = 0;
  let isPolling = false;
  let isNudged = false;
  let waiting = Promise.withResolvers<void>();

  const wakeWatchers = (): void => {
    waiting.resolve();
    waiting = Promise.withResolvers();
  };

  async function readState(): Promise<NonNullable<typeof current>> {
    try {
      const state = await within(clock, SLOW_MS, read());
      if (state === undefined) throw new Error(`no answer within ${SLOW_MS / 1_000} s`);
      lastReadAt = isoInstant(clock.now());
      // The same object while nothing changes, so that watchers need not compare it.
      if (current === undefined || 'trouble' in current) return { state };
      return changesBetween(current.state, state).length === 0 ? current : { state };
    } catch (error) {
      // Trouble is sent once, when it begins.
      if (current !== undefined && 'trouble' in current) return current;
      log.warn({ err: error }, 'live state: read failed');
      return { trouble: { words: TROUBLE, since: lastReadAt } };
    }
  }

  async function poll(): Promise<void> {
    isPolling = true;
    while (watchers > 0 && !closed.signal.aborted) {
      isNudged = false;
      current = await readState();
      wakeWatchers();
      if (isNudged) continue;
      turn = new AbortController();
      await clock.sleep(EVERY_MS, turn.signal).catch(() => undefined);
    }
    isPolling = false;
    // The next watcher may come much later and must not get this old state.
    current = undefined;
  }

  function newsOf(sent: typeof current, now: NonNullable<typeof current>): News {
    if ('trouble' in now) return { event: 'trouble', data: now.trouble };
    if (sent === undefined || 'trouble' in sent) return { event: 'overview', data: now.state };
    const data = { at: isoInstant(clock.now()), changes: changesBetween(sent.state, now.state) };
    return { event: 'change', data };
  }

  return {
    watchers: () => watchers,
    /** Reads the state now instead of at the next poll. */
    nudge(): void {
      isNudged = true;
      turn.abort();
    },
    close(): void {
      closed.abort();
      turn.abort();
      wakeWatchers();
    },
    /** The current state in full, then the changes of it. After trouble, the state in full again. */
    async *watch(signal: AbortSignal): AsyncGenerator<News> {
      let sent: typeof current;
      let sentMs = clock.monotonic();
      watchers += 1;
      signal.addEventListener('abort', wakeWatchers, { once: true });
      if (!isPolling) void poll();
      try {
        while (!signal.aborted && !closed.signal.aborted) {
          const now = current;
          const isQuiet = clock.monotonic() - sentMs >= ALIVE_MS;
          if (now !== undefined && now !== sent) yield newsOf(sent, now);
          else if (isQuiet) yield { event: 'alive', data: { at: isoInstant(clock.now()) } };
          else {
            await within(clock, ALIVE_MS - (clock.monotonic() - sentMs), waiting.promise);
            continue;
          }
          sent = now;
          sentMs = clock.monotonic();
        }
      } finally {
        signal.removeEventListener('abort', wakeWatchers);
        watchers -= 1;
        if (watchers === 0) turn.abort();
      }
    },
  };
}
