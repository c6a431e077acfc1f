// How far the clock of this machine is from that of the server that keeps the warehouse. Rows are stamped by the machine
// that read them, so machines whose clocks are apart may put an older reading over a newer one; the server is what all of
// them can be compared with.

import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time/clock.ts';
import { formatDuration } from '../../core/time/durations.ts';
import type { Engine } from '../engine.ts';

export interface ClockGap {
  /** The server's time, ms since 1970. */
  serverMs: number;
  /** How far this machine is ahead of the server, ms; negative where it is behind. */
  aheadMs: number;
  /** How long the server's answer took, ms. It read its clock at some instant of that. */
  roundTripMs: number;
}

/** Clocks that a time service keeps are far nearer than this. */
const MOST_APART_MS = 2_000;

export const CLOCK_HINT = 'Run a time service, such as chrony (NTP), on this machine and on the server.';

/** The server is taken to have read its clock in the middle of the time that its answer took. */
export async function measureGap(clock: Clock, serverTime: () => Promise<number>): Promise<ClockGap> {
  const askedAt = clock.now();
  const began = clock.monotonic();
  const serverMs = await serverTime();
  const roundTripMs = clock.monotonic() - began;
  return { serverMs, aheadMs: askedAt + roundTripMs / 2 - serverMs, roundTripMs };
}

/** Undefined where the database has no clock but this machine's. */
export const readGap = async (engine: Engine, clock: Clock): Promise<ClockGap | undefined> =>
  engine.beside?.((_, now) => measureGap(clock, now));

/** By the clock that heartbeats go by, ms since 1970. */
export const databaseTime = async (engine: Engine, clock: Clock): Promise<number> =>
  (await readGap(engine, clock))?.serverMs ?? clock.now();

/** Beyond what a slow answer can explain. */
export const isApart = ({ aheadMs, roundTripMs }: ClockGap): boolean =>
  Math.abs(aheadMs) > MOST_APART_MS + roundTripMs;

/** Certainly in step, as opposed to an answer that was too slow to tell. */
export const isInStep = ({ aheadMs, roundTripMs }: ClockGap): boolean =>
  Math.abs(aheadMs) + roundTripMs / 2 <= MOST_APART_MS;

export const gapInWords = ({ aheadMs, roundTripMs }: ClockGap): string =>
  `${formatDuration(Math.abs(aheadMs))} ${aheadMs < 0 ? 'behind' : 'ahead of'} the database server, which answered in ${formatDuration(roundTripMs)}`;

/** Warns once, until the clocks have been in step again. */
export function gapReporter(log: Log): (gap: ClockGap) => void {
  let isReported = false;
  return (gap) => {
    if (isApart(gap) && !isReported) {
      log.warn(
        { code: 'clock_apart', ahead_ms: Math.round(gap.aheadMs), hint: CLOCK_HINT },
        `the clock of this machine is ${gapInWords(gap)}`,
      );
      isReported = true;
    }
    if (isInStep(gap)) isReported = false;
  };
}
