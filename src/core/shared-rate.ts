// One account's rate, shared by several processes. All that is known of it is one small value, and a draw is a pure
// function of that value: whoever stores it decides one draw after another. Calls are spaced evenly, so that neither a
// clock that was set nor a process that comes or goes makes a burst.
import { type Limits, UNDER_WAY_MS } from './limiter.ts';

/** What a process has of the concurrency, and what it last said. */
export interface Share extends Limits {
  /** Calls that it has or waits for. */
  wanted: number;
  /** Calls that it may have at once. */
  held: number;
  /** Calls that could start and have no permit, and how urgent the first of them is. */
  short: number;
  priority: number;
  /** When it was last given a permit. */
  servedMs: number;
  /** When it asks again at the latest, unless it is dead. */
  dueMs: number;
  seenMs: number;
}

export interface RateState {
  /** When the next call may start. */
  nextMs: number;
  pausedUntilMs: number;
  /** By process; who wants nothing has none. */
  shares: Readonly<Record<string, Share>>;
}

/** What a process asks for. */
export interface Draw {
  id: string;
  limits: Limits;
  waiting: number;
  inFlight: number;
  /** Of the most urgent call that waits without a permit; higher goes first. */
  priority: number;
  /** Permits that it has and has not used. */
  inHand: number;
  /** Calls that ended lately, and so are likely to end before the next draw. */
  turnover: number;
  /** How long the service wants to be left alone; 0 where it said nothing. */
  pauseMs: number;
}

export interface Grant {
  /** For each permit, ms from the draw to its instant; less than 0 where that has just passed. */
  waitsMs: readonly number[];
  /** Calls that the process may have at once. */
  lanes: number;
  pausedMs: number;
  /** A draw before that would get no more. */
  againMs: number;
}

/** The book that all processes of an account draw from. */
export interface RateBook {
  draw(asked: Draw): Promise<Grant>;
}

export const SHARED_RATE = {
  /** Permits are given this far ahead; a process that dies with one has lost no more. */
  aheadMs: 300,
  /** A permit lapses this long after its instant. */
  permitMs: 1_000,
  /** An instant that nobody was there to take may still be taken this much later. */
  lateMs: 500,
  /** A share whose process has been silent for longer is free again. */
  deadMs: 20_000,
  /** Where there are more processes than lanes, lanes go round at this pace. */
  turnMs: 5_000,
  /** How soon a process that waits for a lane asks again. */
  laneMs: 500,
  /** How soon a process asks again that let another go first. */
  yieldMs: 250,
  /** How long after it should have asked again a process is still let go first. */
  graceMs: 250,
};

const MINUTE_MS = 60_000;
/** No service is left alone for longer, whatever a clock that was set back says. */
const LONGEST_PAUSE_MS = 600_000;

export const newRate: RateState = { nextMs: 0, pausedUntilMs: 0, shares: {} };

/**
 * So far apart that no minute at the service sees more than `perMinute` calls, although a permit may be used late and
 * a request may be under way for longer than the next one.
 */
export const spacingOf = (perMinute: number): number =>
  (MINUTE_MS + SHARED_RATE.permitMs + UNDER_WAY_MS) / perMinute;

export function drawFrom(state: RateState, asked: Draw, nowMs: number): { state: RateState; grant: Grant } {
  const { id, waiting, inFlight, inHand, turnover, priority } = asked;
  const others = liveShares(state.shares, id, nowMs);
  const limits = lowestLimits([asked.limits, ...Object.values(others)]);
  const wanted = waiting + inFlight;
  const lanes = lanesFor({ id, wanted }, others, limits.concurrency, nowMs);
  const pausedUntilMs = Math.max(
    Math.min(state.pausedUntilMs, nowMs + LONGEST_PAUSE_MS),
    nowMs + asked.pauseMs,
  );
  const usable = lanes === 0 ? 0 : Math.max(0, Math.min(waiting, lanes - inFlight + turnover) - inHand);
  const servedMs = state.shares[id]?.servedMs ?? 0;
  const yields = Object.values(others).some((other) => goesFirst(other, { priority, servedMs }, nowMs));
  const permits = yields || pausedUntilMs > nowMs ? 0 : usable;
  const { waitsMs, nextMs } = takeInstants(state.nextMs, permits, spacingOf(limits.perMinute), nowMs);
  const againMs = againOf({ lanes, yields, untilNextMs: nextMs - nowMs - SHARED_RATE.aheadMs });
  const own: Share = {
    ...asked.limits,
    wanted,
    held: Math.max(inFlight, lanes),
    short: usable - waitsMs.length,
    priority,
    servedMs: waitsMs.length > 0 ? nowMs : servedMs,
    dueMs: nowMs + againMs,
    seenMs: nowMs,
  };
  return {
    state: { nextMs, pausedUntilMs, shares: wanted === 0 ? others : { ...others, [id]: own } },
    grant: { waitsMs, lanes, pausedMs: Math.max(0, pausedUntilMs - nowMs), againMs },
  };
}

/** The next instants that are near, at most `permits` of them. */
function takeInstants(
  firstMs: number,
  permits: number,
  spacingMs: number,
  nowMs: number,
): { waitsMs: number[]; nextMs: number } {
  const horizon = nowMs + SHARED_RATE.aheadMs;
  const waitsMs: number[] = [];
  // Where the clock was set back, the next instant would be out of reach.
  let nextMs = Math.min(firstMs, horizon + spacingMs);
  while (waitsMs.length < permits) {
    const at = Math.max(nextMs, nowMs - SHARED_RATE.lateMs);
    if (at > horizon) break;
    waitsMs.push(at - nowMs);
    nextMs = at + spacingMs;
  }
  return { waitsMs, nextMs };
}

/**
 * The more urgent call goes first, and among equals whoever was given nothing for longest: otherwise the process that
 * is nearest to the database would always be there before the others.
 */
const goesFirst = (other: Share, own: Pick<Share, 'priority' | 'servedMs'>, nowMs: number): boolean =>
  other.short > 0 &&
  nowMs <= other.dueMs + SHARED_RATE.graceMs &&
  (other.priority > own.priority || (other.priority === own.priority && other.servedMs < own.servedMs));

function againOf(found: { lanes: number; yields: boolean; untilNextMs: number }): number {
  if (found.lanes === 0) return SHARED_RATE.laneMs;
  return Math.max(0, found.untilNextMs, found.yields ? SHARED_RATE.yieldMs : 0);
}

/** The shares of the others that still give signs of life. */
function liveShares(shares: RateState['shares'], id: string, nowMs: number): Record<string, Share> {
  const live = Object.entries(shares)
    // A clock that was set back makes nobody immortal.
    .map(([name, share]): [string, Share] => [name, { ...share, seenMs: Math.min(share.seenMs, nowMs) }])
    .filter(([name, { seenMs }]) => name !== id && nowMs - seenMs <= SHARED_RATE.deadMs);
  return Object.fromEntries(live);
}

/** An edit reaches one process after another: until all have it, the lower figure counts. */
const lowestLimits = (all: readonly Limits[]): Limits => ({
  concurrency: Math.min(...all.map(({ concurrency }) => concurrency)),
  perMinute: Math.min(...all.map(({ perMinute }) => perMinute)),
});

/** Its part of the lanes, as far as the others have let go of theirs. */
function lanesFor(
  own: { id: string; wanted: number },
  others: Record<string, Share>,
  total: number,
  nowMs: number,
): number {
  const wants = new Map(Object.entries(others).map(([id, { wanted }]) => [id, wanted]));
  wants.set(own.id, own.wanted);
  const part = divideLanes(total, wants, Math.floor(nowMs / SHARED_RATE.turnMs)).get(own.id) ?? 0;
  const taken = Object.values(others).reduce((sum, { held }) => sum + held, 0);
  return Math.max(0, Math.min(part, total - taken));
}

/** One lane after another to whoever wants more; `turn` says with whom it begins. Never more than `total` in all. */
export function divideLanes(
  total: number,
  wants: ReadonlyMap<string, number>,
  turn: number,
): Map<string, number> {
  const names = [...wants.keys()].sort();
  const first = names.length === 0 ? 0 : turn % names.length;
  const order = [...names.slice(first), ...names.slice(0, first)];
  const parts = new Map(order.map((name) => [name, 0]));
  for (let left = total, given = -1; left > 0 && given !== 0; ) {
    given = 0;
    for (const name of order) {
      const part = parts.get(name) ?? 0;
      if (left === 0 || part >= (wants.get(name) ?? 0)) continue;
      parts.set(name, part + 1);
      left--;
      given++;
    }
  }
  return parts;
}
