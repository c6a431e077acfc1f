// The rate of one account as one small value. Taking permits is a pure function of that value, so one process can hold it
// in memory and several can share it in a database row. Invariant: in any 60 s no more calls arrive at the service than the
// lowest `perMinute` of the asking processes, even if a permit is used late and requests take different times in transit.
import type { Clock } from '../time/clock.ts';

export interface RateState {
  /** GCRA's theoretical arrival time: from then on a full burst may start at once. */
  nextMs: number;
  pausedUntilMs: number;
  /** The lowest `perMinute` of recent requests. */
  perMinute: { figure: number; seenMs: number };
}

export interface PermitRequest {
  /** Priority of each call that could start, the highest first; empty to report only a pause. */
  priorities: readonly number[];
  perMinute: number;
  /** Pause that the service asked for; 0 if none. */
  pauseMs: number;
}

export interface Grant {
  /** For each permit, ms until it is valid. */
  waitsMs: readonly number[];
  pausedMs: number;
  /** Wait before the next request; an earlier one would get no more permits. */
  againMs: number;
}

/** Where a limiter gets its permits. `take` must not hang: a source that cannot answer throws. */
export interface PermitSource {
  take(asked: PermitRequest): Promise<Grant>;
}

export const RATE = {
  /** A permit of the lowest priority is granted this far ahead, one of each higher priority as much further again. */
  aheadMs: 200,
  /** A permit expires this long after its instant. */
  permitMs: 1_000,
  /** Transit times of two requests to the service may differ by this much. */
  underWayMs: 2_000,
  /**
   * A process that got too few permits waits up to this long, at random, so that it asks for several and none is always the
   * first to ask. Less than `aheadMs`, or lower priorities would take the permits of a higher one meanwhile.
   */
  spreadMs: 150,
  /** A waiting process asks at least this often. */
  longestAgainMs: 10_000,
  /** The `perMinute` of a request counts for this long. */
  figureMs: 20_000,
  /** Longest pause, even if the clock is set back. */
  longestPauseMs: 600_000,
};

/**
 * Which waiting call goes first: a login or renewal, which all others need; a push, which people wait for; live data;
 * history.
 */
export const PRIORITY = { session: 3, push: 2, live: 1, history: 0 };

const MINUTE_MS = 60_000;

export const newRate: RateState = {
  nextMs: 0,
  pausedUntilMs: 0,
  perMinute: { figure: Number.MAX_SAFE_INTEGER, seenMs: 0 },
};

/**
 * Of n starts, the last is at least (n - burst) spacings after the first, so fewer than perMinute + 1 fit into the span.
 * The burst depends on the rate alone: processes may differ in concurrency, and have to agree on the pace.
 */
export function paceOf(perMinute: number) {
  /** Calls that may start at the same instant: those of one second. */
  const burst = Math.max(1, Math.floor(perMinute / 60));
  const spanMs = MINUTE_MS + RATE.permitMs + RATE.underWayMs;
  return { burst, spacingMs: spanMs / (perMinute - burst + 1) };
}

export function takePermits(state: RateState, asked: PermitRequest, nowMs: number): { state: RateState; grant: Grant } {
  const perMinute = lowestFigure(state.perMinute, asked.perMinute, nowMs);
  const pace = paceOf(perMinute.figure);
  const pausedMs = Math.max(Math.min(state.pausedUntilMs - nowMs, RATE.longestPauseMs), asked.pauseMs);
  const isPaused = pausedMs > 0;
  const { waitsMs, nextMs, untilNextMs } = takeInstants(state.nextMs, isPaused ? [] : asked.priorities, pace, nowMs);
  const againMs = isPaused ? pausedMs : Math.min(untilNextMs, RATE.longestAgainMs);
  return {
    // A pause that has ended is cleared; otherwise it would return if the clock were set back.
    state: { nextMs, pausedUntilMs: isPaused ? nowMs + pausedMs : 0, perMinute },
    grant: { waitsMs, pausedMs, againMs },
  };
}

/** An edit of the limit reaches one process after another. Until all have it, the lower figure counts. */
function lowestFigure(stored: RateState['perMinute'], figure: number, nowMs: number): RateState['perMinute'] {
  const isOld = Math.abs(nowMs - stored.seenMs) > RATE.figureMs;
  return figure <= stored.figure || isOld ? { figure, seenMs: nowMs } : stored;
}

/** How far ahead a call may start. While calls of a higher priority ask, the next instant is beyond the reach of others. */
const reachOf = (priority: number): number => RATE.aheadMs * (priority + 1);

/** When the first calls may start, and how long the next start is out of reach; 0 if all calls have one. */
function takeInstants(
  storedMs: number,
  priorities: readonly number[],
  { burst, spacingMs }: ReturnType<typeof paceOf>,
  nowMs: number,
) {
  const toleranceMs = (burst - 1) * spacingMs;
  // No sequence of requests leads beyond this bound; a later value means that the clock was set back.
  let nextMs = Math.min(storedMs, nowMs + reachOf(PRIORITY.session) + burst * spacingMs);
  const waitsMs: number[] = [];
  for (const priority of priorities) {
    const waitMs = Math.max(0, nextMs - toleranceMs - nowMs);
    const untilNextMs = waitMs - reachOf(priority);
    if (untilNextMs > 0) return { waitsMs, nextMs, untilNextMs };
    waitsMs.push(waitMs);
    nextMs = Math.max(nextMs, nowMs + waitMs) + spacingMs;
  }
  return { waitsMs, nextMs, untilNextMs: 0 };
}

/** A rate of this process alone, by its monotonic clock: setting the machine's clock does not change it. */
export function localPermits(clock: Clock): PermitSource {
  let state = newRate;
  return {
    async take(asked) {
      const taken = takePermits(state, asked, clock.monotonic());
      state = taken.state;
      return taken.grant;
    },
  };
}
