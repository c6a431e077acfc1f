// The rate of one account as one small value. Taking permits is a pure function of that value, so one process can hold it
// in memory and several can share it in a database row. Invariant: in any 60 s no more calls arrive at the service than the
// lowest `perMinute` of the asking processes, even if a permit is used late and requests take different times in transit.
import type { Clock } from '../time/clock.ts';

export interface RateState {
  /** GCRA's theoretical arrival time: from then on a full burst may start at once. */
  nextMs: number;
  pausedUntilMs: number;
  /** The highest priority that got no permit, and for which process: until `untilMs`, lower priorities of others get none. */
  urgent: { priority: number; process: string; untilMs: number };
  /** The lowest `perMinute` of recent requests. */
  perMinute: { figure: number; seenMs: number };
}

export interface PermitRequest {
  /** Priority of each call that could start, the highest first; empty to report only a pause. */
  priorities: readonly number[];
  /** Identifies the process that asks. */
  process: string;
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
  /** Permits are granted this far ahead. */
  aheadMs: 300,
  /** A permit expires this long after its instant. */
  permitMs: 1_000,
  /** Transit times of two requests to the service may differ by this much. */
  underWayMs: 2_000,
  /** A process that got too few permits waits this long, so that it asks for a batch and not for each one. */
  batchMs: 150,
  /** A process that got too few waits up to this much longer, at random, so that none is always the first to ask. */
  spreadMs: 200,
  /** A process that yielded to a more urgent call asks again after this time. */
  yieldMs: 250,
  /** A waiting process asks at least this often. */
  longestAgainMs: 10_000,
  /** A claim stays valid this long after its process should have asked again. */
  graceMs: 1_000,
  /** The `perMinute` of a request counts for this long. */
  figureMs: 20_000,
  /** Longest pause, even if the clock is set back. */
  longestPauseMs: 600_000,
};

const MINUTE_MS = 60_000;

export const newRate: RateState = {
  nextMs: 0,
  pausedUntilMs: 0,
  urgent: { priority: 0, process: '', untilMs: 0 },
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
  const other = claimOfAnother(state.urgent, asked, nowMs);
  const least = other?.priority ?? Number.NEGATIVE_INFINITY;
  const allowed = asked.priorities.filter((priority) => priority >= least).length;
  const { waitsMs, nextMs, untilNextMs } = takeInstants(state.nextMs, isPaused ? 0 : allowed, pace, nowMs);
  const given = waitsMs.length;
  // Wait before the next request of a process that got too few permits.
  const leastMs = given === allowed ? RATE.yieldMs : given > 0 ? RATE.batchMs : 1;
  const again = Math.min(Math.max(untilNextMs, leastMs), RATE.longestAgainMs);
  const againMs = isPaused ? pausedMs : given === asked.priorities.length ? 0 : again;
  const left = isPaused ? undefined : asked.priorities[given];
  const urgent =
    left === undefined || left < least
      ? (other ?? newRate.urgent)
      : { priority: left, process: asked.process, untilMs: nowMs + againMs + RATE.graceMs };
  return {
    // A pause that has ended is cleared; otherwise it would return if the clock were set back.
    state: { nextMs, pausedUntilMs: isPaused ? nowMs + pausedMs : 0, urgent, perMinute },
    grant: { waitsMs, pausedMs: Math.max(0, pausedMs), againMs },
  };
}

/** An edit of the limit reaches one process after another. Until all have it, the lower figure counts. */
function lowestFigure(stored: RateState['perMinute'], figure: number, nowMs: number): RateState['perMinute'] {
  const isOld = Math.abs(nowMs - stored.seenMs) > RATE.figureMs;
  return figure <= stored.figure || isOld ? { figure, seenMs: nowMs } : stored;
}

/** Ignores a claim that ends too far ahead: it was made before the clock was set back. */
function claimOfAnother(urgent: RateState['urgent'], { process }: PermitRequest, nowMs: number) {
  const { untilMs } = urgent;
  const isLive = untilMs > nowMs && untilMs <= nowMs + RATE.longestAgainMs + RATE.graceMs;
  return isLive && urgent.process !== process ? urgent : undefined;
}

/** At most `count` start instants within the horizon. */
function takeInstants(storedMs: number, count: number, { burst, spacingMs }: ReturnType<typeof paceOf>, nowMs: number) {
  const toleranceMs = (burst - 1) * spacingMs;
  const horizonMs = nowMs + RATE.aheadMs;
  // No sequence of requests leads beyond this bound; a later value means that the clock was set back.
  let nextMs = Math.min(storedMs, horizonMs + burst * spacingMs);
  const waitsMs: number[] = [];
  while (waitsMs.length < count && nextMs - toleranceMs <= horizonMs) {
    const atMs = Math.max(nowMs, nextMs - toleranceMs);
    waitsMs.push(atMs - nowMs);
    nextMs = Math.max(nextMs, atMs) + spacingMs;
  }
  return { waitsMs, nextMs, untilNextMs: nextMs - toleranceMs - horizonMs };
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
