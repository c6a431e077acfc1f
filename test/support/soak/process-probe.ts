// Loaded into the real process by `node --import`: once a second it writes a sample to PROBE_FILE, one JSON line
// each: memory, open files, and the delay of its event loop since the line before.
import { appendFileSync, readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** One line; sizes in MB, delays in ms. */
export interface Sample {
  at: number;
  rss: number;
  /** Objects in use, and buffers beside them. */
  held: number;
  files: number;
  delayMean: number;
  delayMax: number;
}

const file = process.env.PROBE_FILE;
const MB = 1_048_576;
const delay = monitorEventLoopDelay({ resolution: 10 });

function sample(): void {
  const { rss, heapUsed, external } = process.memoryUsage();
  const line: Sample = {
    at: Date.now(),
    rss: rss / MB,
    held: (heapUsed + external) / MB,
    files: readdirSync('/proc/self/fd').length,
    delayMean: delay.mean / 1e6,
    delayMax: delay.max / 1e6,
  };
  delay.reset();
  appendFileSync(file as string, `${JSON.stringify(line)}\n`);
}

if (file !== undefined) {
  delay.enable();
  setInterval(sample, 1_000).unref();
}
