// Progress of long work: on a terminal a bar with the remaining time, elsewhere a plain line for every 10 %.
import type { Clock } from '../../core/time/clock.ts';
import { formatDuration } from '../../core/time/durations.ts';

const WIDTH = 30;

export function createProgressBar(label: string, clock: Clock, unit = 'slices') {
  // stdout is for data.
  const stream = process.stderr;
  const startedAt = clock.now();
  let first: number | undefined;
  let lastTenth = -1;
  return {
    update(done: number, all: number): void {
      // A backfill may continue: its first update counts the slices of earlier runs too, which say nothing about its speed.
      first ??= unit === 'slices' ? done - 1 : 0;
      const share = all === 0 ? 1 : done / all;
      const line = `${done}/${all} ${unit}, ${timeLeft(clock.now() - startedAt, done - first, all - done)}`;
      if (stream.isTTY) {
        const filled = Math.round(share * WIDTH);
        stream.write(`\r\x1b[K${label} [${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${line}`);
      } else if (Math.floor(share * 10) > lastTenth) {
        lastTenth = Math.floor(share * 10);
        stream.write(`${label}: ${line}\n`);
      }
    },
    end(): void {
      if (stream.isTTY) stream.write('\r\x1b[K');
    },
  };
}

/** Estimated from the pace so far; slices done in an earlier run do not count. */
function timeLeft(elapsedMs: number, done: number, left: number): string {
  if (left <= 0) return `done in ${formatDuration(elapsedMs)}`;
  if (done <= 0) return 'time left unknown';
  return `${formatDuration((elapsedMs / done) * left)} left`;
}
