// A limiter whose permits come from a book that several processes share. A call starts only with a permit that is still
// good and a lane that the last draw has confirmed; where the book cannot be reached nothing starts.
import type { Clock } from './clock.ts';
import { asRoadbookError, Fatal, Retriable } from './errors.ts';
import { type Limiter, type Limits, PRIORITY } from './limiter.ts';
import type { Log } from './log.ts';
import { patientBook } from './patient-book.ts';
import { createPermitHand } from './permit-hand.ts';
import { type RateBook, SHARED_RATE } from './shared-rate.ts';
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

export function createSharedLimiter(options: SharedLimiterOptions): Limiter {
  const { clock, log, id } = options;
  const book = patientBook(options.book, clock);
  let limits: Limits = { concurrency: options.concurrency, perMinute: options.perMinute };
  const waiting = createWaitingLine(clock.monotonic);
  const hand = createPermitHand(clock.monotonic);
  const ends: number[] = [];
  let inFlight = 0;
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
    hand.dropLapsed();
    while (waiting.length > 0 && inFlight < hand.lanes && hand.use()) {
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
    const asked = {
      id,
      limits,
      waiting: isClosed ? 0 : waiting.length,
      inFlight: flying,
      priority: waiting.priorityAt(hand.count),
      inHand: hand.count,
      turnover: turnover(),
      pauseMs,
    };
    hasNewLimits = false;
    try {
      const grant = await book.draw(asked);
      // Whoever gave everything back asks anew, whenever that is.
      told = now === 0 ? NEVER_TOLD : { atMs: askedMs, wanted: now, inFlight: flying };
      if (untoldPauseMs === toldPauseMs) untoldPauseMs = Number.NEGATIVE_INFINITY;
      isAway = false;
      hand.take(grant, askedMs);
      againAtMs = clock.monotonic() + Math.max(grant.againMs, grant.waitsMs.length > 0 ? 0 : 1);
    } catch (thrown) {
      bookIsAway(thrown);
    }
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
    const owesLanes = told.inFlight > hand.lanes && inFlight < told.inFlight;
    const due = [
      told.atMs + (owesLanes || wanted() < told.wanted ? SHARED_LIMITER.tellMs : SHARED_LIMITER.keepMs),
    ];
    if (waiting.length > 0 && hand.lanes < limits.concurrency) due.push(told.atMs + SHARED_RATE.laneMs);
    const usable = Math.min(waiting.length, hand.lanes - inFlight + turnover()) - hand.count;
    if (usable > 0) due.push(Math.max(againAtMs, hand.pausedUntilMs));
    return Math.min(...due);
  }

  /** When somebody who waits may start with what is in hand. */
  const startAt = (): number =>
    waiting.length === 0 || inFlight >= hand.lanes ? Number.POSITIVE_INFINITY : hand.goodFromMs();

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
        // A share that cannot be given back now is free when nobody has heard of it for a while.
        if (told !== NEVER_TOLD && !(isClosed && isAway)) await draw();
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
      hand.closeLanes();
      if (!isClosed && wanted() > 0) nudge();
    });
  }

  return {
    async run(call, { signal, priority = PRIORITY.live } = {}) {
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
      const untilMs = clock.monotonic() + ms;
      hand.pause(untilMs);
      untoldPauseMs = Math.max(untoldPauseMs, untilMs);
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
