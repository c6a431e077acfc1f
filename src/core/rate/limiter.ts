// The limiter of all calls to the service: so many at once in this process, and each with a permit that is good now. If no
// permits can be had, no call starts. All times are monotonic: setting the machine's clock neither delays nor starts a call.

import { asRoadbookError, Fatal, type Retriable } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../time/clock.ts';
import { localPermits, type PermitSource, unreachable } from './permits.ts';
import { type Grant, RATE } from './rate.ts';

export interface Limits {
  /** Calls in flight at once in this process. */
  concurrency: number;
  /** Arrivals at the service in any 60 s, of all processes that share the source of permits. */
  perMinute: number;
}

export interface LimiterOptions extends Limits {
  clock: Clock;
  /** Default: a rate of this process alone. */
  permits?: PermitSource;
  /** Is warned when the source of permits cannot be reached. */
  log?: Log;
}

export interface Limiter {
  /** Runs `call` once it has a slot and a permit; higher `priority` goes first, equals in the order they came. */
  run<T>(call: () => Promise<T>, options?: { signal?: AbortSignal; priority?: number }): Promise<T>;
  /** Starts nothing for `ms` from now; a longer pause that is under way stays. */
  pause(ms: number): void;
  /** Applies other limits from now on; calls that have started count. */
  change(limits: Limits): void;
  /** Rejects the calls that wait and starts no more. Idempotent. */
  close(): Promise<void>;
}

/**
 * Which waiting call goes first: a login or renewal, which all others need; a push, which somebody waits for; what is
 * happening now; history.
 */
export const PRIORITY = { session: 1_000, push: 2, live: 1, history: 0 };

/** Until the next ask if one failed. */
const RETRY_MS = 1_000;
/** A call that has waited this long while the source cannot be reached fails. */
const GIVE_UP_MS = 60_000;

const LONG_AGO = Number.NEGATIVE_INFINITY;

interface Waiter {
  priority: number;
  sinceMs: number;
  resolve(): void;
  reject(error: unknown): void;
}

interface Permit {
  fromMs: number;
  untilMs: number;
}

export function createLimiter(options: LimiterOptions): Limiter {
  const { clock, log, permits: source = localPermits(clock) } = options;
  let { concurrency, perMinute } = options;
  let queue: Waiter[] = [];
  let permits: Permit[] = [];
  let inFlight = 0;
  /** When the last calls ended: about as many end before the next ask. */
  const ends: number[] = [];
  let turn = 0;
  let pausedUntilMs = LONG_AGO;
  /** A pause that the other processes do not know of yet. */
  let ownPauseUntilMs = LONG_AGO;
  let againAtMs = LONG_AGO;
  /** Since when the source has given no usable answer. */
  let awaySinceMs: number | undefined;
  let isClosed = false;
  let asking: Promise<void> | undefined;
  let timer: AbortController | undefined;

  /** Starts the calls that may start now, asks for the permits that are missing, and comes back when more can be done. */
  function proceed(): void {
    const nowMs = clock.monotonic();
    permits = permits.filter(({ untilMs }) => untilMs > nowMs);
    while (startAtMs() <= nowMs) {
      permits.shift();
      inFlight++;
      queue.shift()?.resolve();
    }
    if (asking === undefined && askAtMs(nowMs) <= nowMs) {
      asking = ask(nowMs).finally(() => {
        asking = undefined;
        proceed();
      });
    }
    wakeAt(Math.min(startAtMs(), asking === undefined ? askAtMs(nowMs) : Number.POSITIVE_INFINITY));
  }

  function wakeAt(atMs: number): void {
    timer?.abort();
    timer = undefined;
    if (atMs === Number.POSITIVE_INFINITY) return;
    timer = new AbortController();
    void clock.sleep(Math.ceil(atMs - clock.monotonic()), timer.signal).then(proceed, () => undefined);
  }

  /** When the first waiting call may start with the permits there are. */
  function startAtMs(): number {
    if (queue.length === 0 || inFlight >= concurrency) return Number.POSITIVE_INFINITY;
    return Math.max(permits[0]?.fromMs ?? Number.POSITIVE_INFINITY, pausedUntilMs);
  }

  function askAtMs(nowMs: number): number {
    if (isClosed) return Number.POSITIVE_INFINITY;
    if (ownPauseUntilMs > nowMs) return awaySinceMs === undefined ? nowMs : againAtMs;
    return missing(nowMs).length === 0 ? Number.POSITIVE_INFINITY : Math.max(againAtMs, pausedUntilMs);
  }

  /** The calls that could start and have no permit yet. */
  function missing(nowMs: number): Waiter[] {
    while ((ends[0] ?? nowMs) < nowMs - RATE.aheadMs) ends.shift();
    const usable = Math.max(0, concurrency - inFlight + ends.length);
    // A source that is slow wastes the permits that it gives.
    return queue.slice(permits.length, awaySinceMs === undefined ? usable : permits.length + 1);
  }

  async function ask(askedMs: number): Promise<void> {
    const pauseUntilMs = ownPauseUntilMs;
    try {
      const priorities = missing(askedMs).map(({ priority }) => priority);
      const pauseMs = Math.max(0, pauseUntilMs - askedMs);
      receive(await source.take({ priorities, turn, perMinute, pauseMs }), askedMs);
      if (ownPauseUntilMs === pauseUntilMs) ownPauseUntilMs = LONG_AGO;
    } catch (thrown) {
      sourceIsAway(thrown, askedMs);
    }
  }

  function receive(grant: Grant, askedMs: number): void {
    const nowMs = clock.monotonic();
    turn = grant.turn;
    if (grant.pausedMs > 0) pauseUntil(nowMs + grant.pausedMs);
    if (nowMs - askedMs >= RATE.permitMs) throw tooSlow();
    // When between question and answer a permit was given is not known: it is good from the answer on, and ends as if it
    // had been given with the question.
    for (const ms of grant.waitsMs)
      permits.push({ fromMs: nowMs + ms, untilMs: askedMs + ms + RATE.permitMs });
    againAtMs = nowMs + grant.againMs;
    awaySinceMs = undefined;
  }

  function sourceIsAway(thrown: unknown, askedMs: number): void {
    const nowMs = clock.monotonic();
    if (awaySinceMs === undefined)
      log?.warn({ err: asRoadbookError(thrown) }, 'the shared rate cannot be reached; calls wait');
    awaySinceMs ??= askedMs;
    againAtMs = nowMs + RETRY_MS;
    const fromMs = awaySinceMs;
    reject(({ sinceMs }) => nowMs - Math.max(sinceMs, fromMs) >= GIVE_UP_MS, rateAway(thrown));
  }

  function reject(isMeant: (waiter: Waiter) => boolean, error: unknown): void {
    const rejected = queue.filter(isMeant);
    queue = queue.filter((waiter) => !rejected.includes(waiter));
    for (const waiter of rejected) waiter.reject(error);
  }

  /** Permits from before a pause are worth nothing after it. */
  function pauseUntil(untilMs: number): void {
    pausedUntilMs = Math.max(pausedUntilMs, untilMs);
    permits = [];
  }

  /** Another ask may get more than the last grant said. */
  function askSoon(): void {
    if (awaySinceMs === undefined) againAtMs = LONG_AGO;
  }

  async function wait(priority: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, ...settle } = Promise.withResolvers<void>();
    const waiter: Waiter = { priority, sinceMs: clock.monotonic(), ...settle };
    const onAbort = () => {
      reject((each) => each === waiter, signal?.reason);
      proceed();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    // The other processes have to know of a call that is more urgent than those they know of.
    if (priority > (queue[0]?.priority ?? LONG_AGO)) askSoon();
    const behind = queue.findIndex((other) => other.priority < priority);
    queue.splice(behind < 0 ? queue.length : behind, 0, waiter);
    proceed();
    await promise.finally(() => signal?.removeEventListener('abort', onAbort));
  }

  return {
    async run(call, { signal, priority = PRIORITY.live } = {}) {
      signal?.throwIfAborted();
      if (isClosed) throw closedError();
      await wait(priority, signal);
      try {
        return await call();
      } finally {
        inFlight--;
        ends.push(clock.monotonic());
        proceed();
      }
    },
    pause(ms) {
      const untilMs = clock.monotonic() + ms;
      ownPauseUntilMs = Math.max(ownPauseUntilMs, untilMs);
      pauseUntil(untilMs);
      proceed();
    },
    change(limits) {
      ({ concurrency, perMinute } = limits);
      askSoon();
      proceed();
    },
    async close() {
      isClosed = true;
      reject(() => true, closedError());
      proceed();
      await asking;
    },
  };
}

const closedError = (): Fatal =>
  new Fatal('The call was not sent: the process is ending', {
    code: 'closed',
    hint: 'Start the command again.',
  });

const rateAway = (cause: unknown): Retriable =>
  unreachable(
    'The call was not sent: the warehouse, which holds the rate of all processes, cannot be reached',
    cause,
  );

const tooSlow = (): Retriable =>
  unreachable(
    `The warehouse takes longer than ${RATE.permitMs / 1_000} s to answer, too long to keep a rate`,
  );
