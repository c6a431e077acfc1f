// A limiter whose permits come from a book that several processes share. A call starts only with a permit that is still
// good and a lane that the last draw has confirmed; where the book cannot be reached nothing starts.
import type { Clock } from './clock.ts';
import { asRoadbookError, Fatal, Retriable } from './errors.ts';
import type { Limiter, Limits } from './limiter.ts';
import type { Log } from './log.ts';
import { type Grant, type RateBook, SHARED_RATE } from './shared-rate.ts';
import { createWaitingLine } from './waiting-line.ts';

export interface SharedLimiterOptions extends Limits {
  clock: Clock;
  log: Log;
  book: RateBook;
  /** Unique among all limiters of all processes. */
  id: string;
}

export const SHARED_LIMITER = {
  /** A share is kept alive by a draw in this time. */
  keepMs: 5_000,
  /** Who wants fewer lanes than it said gives them back within this time. */
  tellMs: 500,
  /** A share is kept this long without a call. */
  lingerMs: 1_000,
  /** Until the next draw where one failed. */
  retryMs: 1_000,
  /** A call that waits this long while the book cannot be reached fails. */
  giveUpMs: 60_000,
};

const NEVER_TOLD = { atMs: Number.NEGATIVE_INFINITY, wanted: 0, inFlight: 0 };

/** A permit, by the own monotonic clock. */
interface Permit {
  fromMs: number;
  untilMs: number;
}

export function createSharedLimiter(options: SharedLimiterOptions): Limiter {
  const { clock, log, book, id } = options;
  let limits: Limits = { concurrency: options.concurrency, perMinute: options.perMinute };
  const waiting = createWaitingLine(clock.monotonic);
  const ends: number[] = [];
  let permits: Permit[] = [];
  let inFlight = 0;
  let lanes = 0;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** A pause that the others have not been told of yet. */
  let untoldPauseMs = Number.NEGATIVE_INFINITY;
  let hasNewLimits = false;
  let told = NEVER_TOLD;
  let againAtMs = Number.NEGATIVE_INFINITY;
  let isAway = false;
  let isClosed = false;
  let turn = new AbortController();
  let keeping: Promise<void> | undefined;

  const wanted = (): number => (isClosed ? 0 : waiting.length + inFlight);
  const owesPause = (): boolean => untoldPauseMs > clock.monotonic();

  function turnover(): number {
    const since = clock.monotonic() - SHARED_RATE.aheadMs;
    while (ends.length > 0 && (ends[0] as number) < since) ends.shift();
    return ends.length;
  }

  /** Starts whoever may start now, the most urgent first. */
  function admit(): void {
    const now = clock.monotonic();
    permits = permits.filter(({ untilMs }) => untilMs > now);
    while (waiting.length > 0 && inFlight < lanes && now >= pausedUntilMs) {
      if (permits[0] === undefined || permits[0].fromMs > now) return;
      permits.shift();
      inFlight++;
      waiting.admitFirst();
    }
  }

  async function draw(): Promise<void> {
    const askedMs = clock.monotonic();
    const pauseMs = Math.max(0, untoldPauseMs - askedMs);
    const toldPauseMs = untoldPauseMs;
    const now = wanted();
    const flying = isClosed ? 0 : inFlight;
    hasNewLimits = false;
    try {
      const grant = await book.draw({
        id,
        limits,
        waiting: isClosed ? 0 : waiting.length,
        inFlight: isClosed ? 0 : inFlight,
        priority: waiting.priorityAt(permits.length),
        inHand: permits.length,
        turnover: turnover(),
        pauseMs,
      });
      // Whoever gave everything back asks anew, whenever that is.
      told = now === 0 ? NEVER_TOLD : { atMs: askedMs, wanted: now, inFlight: flying };
      if (untoldPauseMs === toldPauseMs) untoldPauseMs = Number.NEGATIVE_INFINITY;
      isAway = false;
      take(grant, askedMs);
    } catch (thrown) {
      bookIsAway(thrown);
    }
  }

  function take({ waitsMs, lanes: given, pausedMs, againMs }: Grant, askedMs: number): void {
    const now = clock.monotonic();
    lanes = given;
    // Where between question and answer it was given is not known: it is good from the answer on, and ends as if it
    // had been given with the question.
    const fresh = waitsMs.map((ms) => ({ fromMs: now + ms, untilMs: askedMs + ms + SHARED_RATE.permitMs }));
    permits = [...permits, ...fresh];
    if (pausedMs > 0) {
      pausedUntilMs = Math.max(pausedUntilMs, now + pausedMs);
      permits = [];
    }
    againAtMs = now + Math.max(againMs, waitsMs.length > 0 ? 0 : 1);
  }

  function bookIsAway(thrown: unknown): void {
    const now = clock.monotonic();
    hasNewLimits = true;
    if (!isAway) log.warn({ err: asRoadbookError(thrown) }, 'the shared rate cannot be reached; calls wait');
    isAway = true;
    againAtMs = now + SHARED_LIMITER.retryMs;
    waiting.refuse(() => rateAway(thrown), now - SHARED_LIMITER.giveUpMs);
  }

  /** When the next draw is due. */
  function drawAt(): number {
    if (isAway) return againAtMs;
    if (hasNewLimits || owesPause()) return Number.NEGATIVE_INFINITY;
    const owesLanes = told.inFlight > lanes && inFlight < told.inFlight;
    const due = [
      told.atMs + (owesLanes || wanted() < told.wanted ? SHARED_LIMITER.tellMs : SHARED_LIMITER.keepMs),
    ];
    if (waiting.length > 0 && lanes < limits.concurrency) due.push(told.atMs + SHARED_RATE.laneMs);
    const usable = Math.min(waiting.length, lanes - inFlight + turnover()) - permits.length;
    if (usable > 0) due.push(Math.max(againAtMs, pausedUntilMs));
    return Math.min(...due);
  }

  /** When somebody who waits may start with what is in hand. */
  function startAt(): number {
    if (waiting.length === 0 || inFlight >= lanes || permits[0] === undefined)
      return Number.POSITIVE_INFINITY;
    return Math.max(permits[0].fromMs, pausedUntilMs);
  }

  const rest = (untilMs: number): Promise<void> =>
    clock.sleep(Math.max(1, Math.ceil(untilMs - clock.monotonic())), turn.signal).catch(() => undefined);

  /** Lives while there are calls, and a little longer; gives the share back at the end. */
  async function keep(): Promise<void> {
    let idleSinceMs: number | undefined;
    for (;;) {
      turn = new AbortController();
      admit();
      const now = clock.monotonic();
      const isIdle = wanted() === 0 && !owesPause();
      idleSinceMs = isIdle ? (idleSinceMs ?? now) : undefined;
      const endsAt = idleSinceMs === undefined ? undefined : idleSinceMs + SHARED_LIMITER.lingerMs;
      if (isClosed || (endsAt !== undefined && endsAt <= now)) {
        if (told !== NEVER_TOLD) await draw();
        if (isClosed || wanted() === 0) return;
      } else if (endsAt !== undefined) await rest(endsAt);
      else if (drawAt() <= now) await draw();
      else await rest(Math.min(drawAt(), startAt()));
    }
  }

  function nudge(): void {
    turn.abort();
    keeping ??= keep().finally(() => {
      keeping = undefined;
      lanes = 0;
      if (!isClosed && wanted() > 0) nudge();
    });
  }

  return {
    async run(call, { signal, priority = 0 } = {}) {
      const admitted = waiting.join(priority, signal);
      nudge();
      await admitted;
      try {
        return await call();
      } finally {
        inFlight--;
        ends.push(clock.monotonic());
        nudge();
      }
    },
    pause(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, clock.monotonic() + ms);
      untoldPauseMs = Math.max(untoldPauseMs, clock.monotonic() + ms);
      permits = [];
      nudge();
    },
    change(next) {
      limits = { concurrency: next.concurrency, perMinute: next.perMinute };
      hasNewLimits = true;
      if (wanted() > 0) nudge();
    },
    async close() {
      isClosed = true;
      waiting.refuse(closedError);
      turn.abort();
      await keeping;
    },
  };
}

const closedError = (): Fatal =>
  new Fatal('The call was not sent: the process is ending', {
    code: 'closed',
    hint: 'Start the command again.',
  });

const rateAway = (cause: unknown): Retriable =>
  new Retriable(
    'The call was not sent: the warehouse, which holds the rate of all processes, cannot be reached',
    {
      code: 'warehouse_unreachable',
      hint: 'Check that the database of the warehouse is up; `roadbook doctor` says more.',
      cause,
    },
  );
