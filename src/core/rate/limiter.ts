// Limits all calls to the service: at most `concurrency` at once in this process, each with a permit that is valid now.
// Without permits no call starts. All times are monotonic: setting the machine's clock neither delays nor starts a call.
import { asRoadbookError, Fatal, Retriable } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../time/clock.ts';
import { type Grant, localPermits, type PermitSource, PRIORITY, RATE } from './rate.ts';

export interface Limits {
  /** Calls in flight at once in this process. */
  concurrency: number;
  /** Calls that arrive at the service in any 60 s, from all processes that share the source of permits. */
  perMinute: number;
}

export interface LimiterOptions extends Limits {
  clock: Clock;
  /** Default: a rate for this process alone. */
  permits?: PermitSource;
  /** Gets a warning when the source of permits cannot be reached. */
  log?: Log;
  /** Gives a number in [0, 1); default: Math.random. */
  random?: () => number;
}

export type Limiter = ReturnType<typeof createLimiter>;

/** Wait before the next request for permits after a failed one. */
const RETRY_MS = 1_000;
/** A call fails after waiting this long for an unreachable source. */
const FAIL_AFTER_MS = 60_000;

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

export function createLimiter(options: LimiterOptions) {
  const { clock, log, permits: source = localPermits(clock), random = Math.random } = options;
  let { concurrency, perMinute } = options;
  let queue: Waiter[] = [];
  let permits: Permit[] = [];
  let inFlight = 0;
  /** When the last calls ended. About as many calls will end before the next request for permits. */
  const recentEnds: number[] = [];
  let pausedUntilMs = LONG_AGO;
  /** A pause that the other processes have not received yet. */
  let ownPauseUntilMs = LONG_AGO;
  let nextAskMs = LONG_AGO;
  /** The request under way does not name all that the limiter wants. */
  let mustAskAgain = false;
  /** Since when the source has given no usable answer; undefined while it answers. */
  let unreachableSinceMs: number | undefined;
  let isClosed = false;
  let asking: Promise<void> | undefined;
  let timer: AbortController | undefined;

  /** Starts the calls that may start now, asks for missing permits, and schedules the next step. */
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

  /** When the first waiting call may start with the permits at hand. */
  function startAtMs(): number {
    if (queue.length === 0 || inFlight >= concurrency) return Number.POSITIVE_INFINITY;
    return Math.max(permits[0]?.fromMs ?? Number.POSITIVE_INFINITY, pausedUntilMs);
  }

  function askAtMs(nowMs: number): number {
    if (isClosed) return Number.POSITIVE_INFINITY;
    if (ownPauseUntilMs > nowMs) return unreachableSinceMs === undefined ? nowMs : nextAskMs;
    return callsWithoutPermit(nowMs).length === 0 ? Number.POSITIVE_INFINITY : Math.max(nextAskMs, pausedUntilMs);
  }

  /** The waiting calls that could start if they had a permit. */
  function callsWithoutPermit(nowMs: number): Waiter[] {
    while ((recentEnds[0] ?? nowMs) < nowMs - RATE.aheadMs) recentEnds.shift();
    const usable = Math.max(0, concurrency - inFlight + recentEnds.length);
    // A failing source gets one call at a time: permits that arrive too late are wasted.
    return queue.slice(permits.length, unreachableSinceMs === undefined ? usable : permits.length + 1);
  }

  async function ask(askedMs: number): Promise<void> {
    const pauseUntilMs = ownPauseUntilMs;
    mustAskAgain = false;
    try {
      const priorities = callsWithoutPermit(askedMs).map(({ priority }) => priority);
      const pauseMs = Math.max(0, pauseUntilMs - askedMs);
      receive(await source.take({ priorities, perMinute, pauseMs }), askedMs);
      if (ownPauseUntilMs === pauseUntilMs) ownPauseUntilMs = LONG_AGO;
    } catch (thrown) {
      onSourceFailure(thrown, askedMs);
    }
  }

  function receive(grant: Grant, askedMs: number): void {
    const nowMs = clock.monotonic();
    if (grant.pausedMs > 0) pauseUntil(nowMs + grant.pausedMs);
    if (nowMs - askedMs >= RATE.permitMs) throw unreachable(TOO_SLOW);
    // The source granted the permit at an unknown instant between request and answer. To be safe, the permit is valid from
    // the answer on and expires as if it had been granted at the request.
    for (const ms of grant.waitsMs) permits.push({ fromMs: nowMs + ms, untilMs: askedMs + ms + RATE.permitMs });
    const isContended = grant.againMs > 0 && grant.pausedMs === 0;
    const spreadMs = isContended ? random() * RATE.spreadMs : 0;
    // Counted from the request, so that a process far from the source does not ask later than the others. If that instant is
    // over, a short wait remains: without it two such processes would keep their order, and the second would get no permit as
    // long as the first has calls.
    nextAskMs = mustAskAgain ? LONG_AGO : Math.max(askedMs + grant.againMs + spreadMs, nowMs + spreadMs / 10);
    unreachableSinceMs = undefined;
  }

  function onSourceFailure(thrown: unknown, askedMs: number): void {
    const nowMs = clock.monotonic();
    if (unreachableSinceMs === undefined)
      log?.warn({ err: asRoadbookError(thrown) }, 'the shared rate cannot be reached; calls are waiting');
    unreachableSinceMs ??= askedMs;
    nextAskMs = nowMs + RETRY_MS;
    const fromMs = unreachableSinceMs;
    reject(({ sinceMs }) => nowMs - Math.max(sinceMs, fromMs) >= FAIL_AFTER_MS, unreachable(UNREACHABLE, thrown));
  }

  function reject(matches: (waiter: Waiter) => boolean, error: unknown): void {
    const rejected = queue.filter(matches);
    queue = queue.filter((waiter) => !rejected.includes(waiter));
    for (const waiter of rejected) waiter.reject(error);
  }

  /** Discards all permits: they are not valid after a pause. */
  function pauseUntil(untilMs: number): void {
    pausedUntilMs = Math.max(pausedUntilMs, untilMs);
    permits = [];
  }

  /** A new request may get more permits than the last grant announced. */
  function askSoon(): void {
    mustAskAgain = true;
    if (unreachableSinceMs === undefined) nextAskMs = LONG_AGO;
  }

  /** The highest priority of the calls that have no permit yet. */
  const urgentWithoutPermit = (): number => queue[permits.length]?.priority ?? LONG_AGO;

  async function wait(priority: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, ...resolvers } = Promise.withResolvers<void>();
    const waiter: Waiter = { priority, sinceMs: clock.monotonic(), ...resolvers };
    const onAbort = () => {
      reject((each) => each === waiter, signal?.reason);
      proceed();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    const before = urgentWithoutPermit();
    const behind = queue.findIndex((other) => other.priority < priority);
    queue.splice(behind < 0 ? queue.length : behind, 0, waiter);
    // A call more urgent than those without a permit may get one that was out of their reach.
    if (urgentWithoutPermit() > before) askSoon();
    proceed();
    await promise.finally(() => signal?.removeEventListener('abort', onAbort));
  }

  return {
    /** Runs `call` once it has a slot and a permit. Higher `priority` goes first, equal priorities in order of arrival. */
    async run<T>(call: () => Promise<T>, options: { signal?: AbortSignal; priority?: number } = {}): Promise<T> {
      const { signal, priority = PRIORITY.live } = options;
      signal?.throwIfAborted();
      if (isClosed) throw closedError();
      await wait(priority, signal);
      try {
        return await call();
      } finally {
        inFlight--;
        recentEnds.push(clock.monotonic());
        proceed();
      }
    },
    /** Starts no call for `ms` from now; a longer pause stays in force. */
    pause(ms: number): void {
      const untilMs = clock.monotonic() + ms;
      ownPauseUntilMs = Math.max(ownPauseUntilMs, untilMs);
      pauseUntil(untilMs);
      proceed();
    },
    /** Applies new limits from now on; calls already started count. */
    change(limits: Limits): void {
      ({ concurrency, perMinute } = limits);
      askSoon();
      proceed();
    },
    /** Rejects the waiting calls and starts no more. Idempotent. */
    async close(): Promise<void> {
      isClosed = true;
      reject(() => true, closedError());
      proceed();
      await asking;
    },
  };
}

const closedError = (): Fatal =>
  new Fatal('The call was not sent: the process is stopping', {
    code: 'closed',
    hint: 'Start the command again.',
  });

const UNREACHABLE =
  'The call was not sent: the warehouse, which stores the rate limit of all processes, cannot be reached';
const TOO_SLOW = `The warehouse takes longer than ${RATE.permitMs / 1_000} s to answer, too long for the rate limit`;

const unreachable = (message: string, cause?: unknown): Retriable =>
  new Retriable(message, {
    code: 'warehouse_unreachable',
    hint: 'Check the database of the warehouse and the network to it; `roadbook doctor` shows details.',
    cause,
  });
