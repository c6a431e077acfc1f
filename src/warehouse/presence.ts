// Signs of life of this daemon: a row in `sync_daemon` while it runs, with how many slices it loads. Nothing depends on
// it but what people are shown. Each sign asks the server for its time, so a clock that is apart is noticed by the way.
import type { Clock } from '../core/clock.ts';
import { asRoadbookError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { createLoop } from '../core/loop.ts';
import { forgetDaemon, tellDaemon } from './daemons.ts';
import type { Engine } from './engine.ts';
import { CLOCK_HINT, type ClockGap, gapInWords, isApart, isInStep } from './server-clock.ts';
import { thisProcess } from './this-process.ts';

export interface Presence {
  start(): void;
  /** One sign of life; the loop gives one every five seconds. */
  runOnce(): Promise<void>;
  /** Takes the row away. Idempotent and safe before start. */
  stop(): Promise<void>;
}

export interface PresenceParts {
  engine: Engine;
  clock: Clock;
  log: Log;
  version: string;
  slices: SliceMeter;
  /** This process unless told. */
  process?: { holder: string; host: string; pid: number };
}

/** Counts the slices that were loaded, in all and in the last minute. */
export interface SliceMeter {
  count(): void;
  done(): number;
  perMinute(): number;
}

const BEAT_MS = 5_000;
const MINUTE_MS = 60_000;

export function createSliceMeter(clock: Clock): SliceMeter {
  let done = 0;
  let recent: number[] = [];
  return {
    count() {
      done++;
      recent.push(clock.monotonic());
    },
    done: () => done,
    perMinute() {
      recent = recent.filter((at) => at > clock.monotonic() - MINUTE_MS);
      return recent.length;
    },
  };
}

export function createPresence(parts: PresenceParts): Presence {
  const { engine, clock, log, version, slices, process = thisProcess } = parts;
  let startedAt: string | undefined;
  let isAway = false;
  let isToldApart = false;

  /** Once, until the clocks have been in step again. */
  function tellClock(gap: ClockGap): void {
    if (isApart(gap) && !isToldApart) {
      log.warn(
        { code: 'clock_apart', ahead_ms: Math.round(gap.aheadMs), hint: CLOCK_HINT },
        `the clock of this machine is ${gapInWords(gap)}`,
      );
      isToldApart = true;
    }
    if (isInStep(gap)) isToldApart = false;
  }

  async function runOnce(): Promise<void> {
    try {
      const { at, gap } = await tellDaemon(engine, clock, {
        id: process.holder,
        host: process.host,
        pid: process.pid,
        version,
        slices_done: slices.done(),
        slices_per_minute: slices.perMinute(),
        ...(startedAt !== undefined && { started_at: startedAt }),
      });
      startedAt ??= at;
      isAway = false;
      tellClock(gap);
    } catch (thrown) {
      if (!isAway) log.warn({ err: asRoadbookError(thrown) }, 'this daemon cannot tell that it lives');
      isAway = true;
    }
  }

  const beats = createLoop(clock, BEAT_MS, runOnce);
  return {
    runOnce,
    start: beats.start,
    async stop() {
      await beats.stop();
      // A row that stays is told as silent, and removed by another daemon.
      await forgetDaemon(engine, clock, process.holder).catch(() => undefined);
    },
  };
}
