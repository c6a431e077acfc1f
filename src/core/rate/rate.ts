// The rate of one account as one small value. Taking permits is a pure function of that value, so that one process can keep
// it in memory and several can keep it in a row. Invariant: in any 60 s no more than the lowest `perMinute` of the processes
// that ask arrives at the service, even if a permit is used late and requests are under way for different times.

export interface RateState {
  /** GCRA's theoretical arrival time: from then on a whole burst may start at once. */
  nextMs: number;
  pausedUntilMs: number;
  /** Where the process stood that was served last, see `Asked.turn`. */
  turn: number;
  /** The first call that was left without a permit: calls after it get none until then. */
  urgent: Place & { untilMs: number };
  /** The lowest figure that was asked with lately. */
  perMinute: { figure: number; seenMs: number };
}

/** Higher priority goes first; among equals the process that was given fewer permits, which is the lower turn. */
interface Place {
  priority: number;
  turn: number;
}

export interface Asked {
  /** Of each call that could start, the highest first; empty to pass on a pause alone. */
  priorities: readonly number[];
  /** As the last grant said, 0 before: permits of this process, counted from where the others stood when it came. */
  turn: number;
  perMinute: number;
  /** How long the service wants no call; 0 if it said nothing. */
  pauseMs: number;
}

export interface Grant {
  /** For each permit, ms until it is good. */
  waitsMs: readonly number[];
  pausedMs: number;
  /** An earlier ask would get no more. */
  againMs: number;
  /** To ask with the next time. */
  turn: number;
}

export const RATE = {
  /** Permits are given this far ahead. */
  aheadMs: 300,
  /** A permit lapses this long after its instant. */
  permitMs: 1_000,
  /** One request may take so much longer than another to the service. */
  underWayMs: 2_000,
  /** A process that got some permits but too few asks for more after this time, not for each one. */
  batchMs: 150,
  /** A process that let another one go first asks again after this time. */
  yieldMs: 250,
  /** A process that waits asks at least this often. */
  longestAgainMs: 10_000,
  /** A process that should have asked again is waited for this long. */
  graceMs: 1_000,
  /** A figure counts for this long after it was asked with. */
  figureMs: 20_000,
  /** No pause is longer, even if the clock is set back. */
  longestPauseMs: 600_000,
};

const MINUTE_MS = 60_000;

export const newRate: RateState = {
  nextMs: 0,
  pausedUntilMs: 0,
  turn: 0,
  urgent: { priority: 0, turn: 0, untilMs: 0 },
  perMinute: { figure: Number.MAX_SAFE_INTEGER, seenMs: 0 },
};

interface Pace {
  /** Starts that may follow one another at once: those of one second. */
  burst: number;
  spacingMs: number;
}

/**
 * Of n starts, the last is at least (n - burst) spacings after the first, so fewer than perMinute + 1 fit into the span.
 * The burst depends on the rate alone: processes may differ in concurrency, and have to agree on the pace.
 */
export function paceOf(perMinute: number): Pace {
  const burst = Math.max(1, Math.floor(perMinute / 60));
  const spanMs = MINUTE_MS + RATE.permitMs + RATE.underWayMs;
  return { burst, spacingMs: spanMs / (perMinute - burst + 1) };
}

export function takePermits(
  state: RateState,
  asked: Asked,
  nowMs: number,
): { state: RateState; grant: Grant } {
  const perMinute = lowestFigure(state.perMinute, asked.perMinute, nowMs);
  const pace = paceOf(perMinute.figure);
  const pausedMs = Math.max(Math.min(state.pausedUntilMs - nowMs, RATE.longestPauseMs), asked.pauseMs);
  const isPaused = pausedMs > 0;
  const other = claimOfAnother(state.urgent, asked, nowMs);
  const turn = boundedTurn(asked.turn, state.turn, pace);
  const allowed = asked.priorities.filter((priority) => !goesBefore(other, { priority, turn })).length;
  const { waitsMs, nextMs, untilNextMs } = takeInstants(state.nextMs, isPaused ? 0 : allowed, pace, nowMs);
  const given = waitsMs.length;
  const again = againAfter(given, { yields: given === allowed, untilNextMs });
  const againMs = isPaused ? pausedMs : given === asked.priorities.length ? 0 : again;
  const left = isPaused ? undefined : asked.priorities[given];
  const own = left === undefined ? undefined : { priority: left, turn: turn + given };
  const urgent =
    own === undefined || goesBefore(other, own)
      ? (other ?? newRate.urgent)
      : { ...own, untilMs: nowMs + againMs + RATE.graceMs };
  return {
    // A pause that is over is forgotten, so that it does not come back when the clock is set back.
    state: {
      nextMs,
      pausedUntilMs: isPaused ? nowMs + pausedMs : 0,
      turn: given > 0 ? turn : state.turn,
      urgent,
      perMinute,
    },
    grant: { waitsMs, pausedMs: Math.max(0, pausedMs), againMs, turn: turn + given },
  };
}

/** An edit reaches one process after another: until all have it, the lower figure counts. */
function lowestFigure(stored: RateState['perMinute'], figure: number, nowMs: number): RateState['perMinute'] {
  const isOld = Math.abs(nowMs - stored.seenMs) > RATE.figureMs;
  return figure <= stored.figure || isOld ? { figure, seenMs: nowMs } : stored;
}

/** A claim that was made for too long ahead is from before the clock was set back. */
function claimOfAnother(
  { priority, turn, untilMs }: RateState['urgent'],
  asked: Asked,
  nowMs: number,
): RateState['urgent'] | undefined {
  const isLive = untilMs > nowMs && untilMs <= nowMs + RATE.longestAgainMs + RATE.graceMs;
  const isOwn = turn === asked.turn && asked.priorities.includes(priority);
  return isLive && !isOwn ? { priority, turn, untilMs } : undefined;
}

const goesBefore = (first: Place | undefined, second: Place): boolean =>
  first !== undefined &&
  (first.priority > second.priority || (first.priority === second.priority && first.turn < second.turn));

/** A process that had no calls comes in where the others are; none is further ahead than one ask can bring it. */
const boundedTurn = (turn: number, served: number, { burst, spacingMs }: Pace): number =>
  Math.min(Math.max(turn, served), served + burst + Math.ceil(RATE.aheadMs / spacingMs));

/** The next instants that are near, at most `count` of them. */
function takeInstants(
  storedMs: number,
  count: number,
  { burst, spacingMs }: Pace,
  nowMs: number,
): { waitsMs: number[]; nextMs: number; untilNextMs: number } {
  const toleranceMs = (burst - 1) * spacingMs;
  const horizonMs = nowMs + RATE.aheadMs;
  // The latest that taking can lead to; beyond it, the clock was set back.
  let nextMs = Math.min(storedMs, horizonMs + burst * spacingMs);
  const waitsMs: number[] = [];
  for (; waitsMs.length < count && nextMs - toleranceMs <= horizonMs; ) {
    const atMs = Math.max(nowMs, nextMs - toleranceMs);
    waitsMs.push(atMs - nowMs);
    nextMs = Math.max(nextMs, atMs) + spacingMs;
  }
  return { waitsMs, nextMs, untilNextMs: nextMs - toleranceMs - horizonMs };
}

/** When a process that got fewer permits than it asked for should ask again. */
function againAfter(
  given: number,
  { yields, untilNextMs }: { yields: boolean; untilNextMs: number },
): number {
  const leastMs = yields ? RATE.yieldMs : given > 0 ? RATE.batchMs : 1;
  return Math.min(Math.max(untilNextMs, leastMs), RATE.longestAgainMs);
}
