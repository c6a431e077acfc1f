// The gap between this machine's clock and the database server's clock. The machine that reads a row stamps it with its
// own time. Machines with different clocks may therefore overwrite a newer read with an older one. The server's clock is
// the common reference.
import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time/clock.ts';
import { formatDuration } from '../../core/time/durations.ts';
import type { Engine } from '../engine.ts';

export type ClockGap = Awaited<ReturnType<typeof measureGap>>;

/** Clocks under a time service differ by far less. */
const MOST_APART_MS = 2_000;

export const CLOCK_HINT = 'Run a time service, such as chrony (NTP), on this machine and on the server.';

/**
 * `serverMs` is the server's time in ms since 1970, `aheadMs` how far this machine is ahead of it, if the server read its
 * clock halfway through the round trip.
 */
export async function measureGap(clock: Clock, serverTime: () => Promise<number>) {
  const askedAt = clock.now();
  const began = clock.monotonic();
  const serverMs = await serverTime();
  const roundTripMs = clock.monotonic() - began;
  return { serverMs, aheadMs: askedAt + roundTripMs / 2 - serverMs, roundTripMs };
}

/** Undefined if the database runs on this machine's clock. */
export const readGap = async (engine: Engine, clock: Clock): Promise<ClockGap | undefined> =>
  engine.shortTransaction?.((_, now) => measureGap(clock, now));

/** The time by the clock that stamps heartbeats, ms since 1970. */
export const databaseTime = async (engine: Engine, clock: Clock): Promise<number> =>
  (await readGap(engine, clock))?.serverMs ?? clock.now();

/** The clocks differ by more than a slow answer can explain. */
export const isApart = ({ aheadMs, roundTripMs }: ClockGap): boolean => Math.abs(aheadMs) > MOST_APART_MS + roundTripMs;

export const gapInWords = ({ aheadMs, roundTripMs }: ClockGap): string =>
  `${formatDuration(Math.abs(aheadMs))} ${aheadMs < 0 ? 'behind' : 'ahead of'} the database server, which answered in ${formatDuration(roundTripMs)}`;

/** Warns once for as long as the clocks are apart. A slow answer says nothing about that. */
export function gapReporter(log: Log): (gap: ClockGap) => void {
  let isReported = false;
  return (gap) => {
    if (isApart(gap) && !isReported)
      log.warn(
        { code: 'clock_apart', ahead_ms: Math.round(gap.aheadMs), hint: CLOCK_HINT },
        `the clock of this machine is ${gapInWords(gap)}`,
      );
    if (isApart(gap) || gap.roundTripMs < MOST_APART_MS) isReported = isApart(gap);
  };
}
