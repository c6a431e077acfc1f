// Loaded into the real process by `node --import`: at each SIGUSR2 it collects garbage and prints the resources that
// the process still holds, one JSON line on stderr.
import { readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Held {
  /** Open files and pipes, those of the warehouse apart: a pool of connections grows and shrinks as it is used. */
  files: number;
  warehouseFiles: number;
  sockets: number;
  /** That keep the process alive. */
  timers: number;
  /** Objects and buffers, MB. */
  mb: number;
}

async function report(): Promise<void> {
  // Objects that a finaliser releases are collected by the second pass.
  for (let times = 0; times < 2; times++) {
    globalThis.gc?.();
    await nextTurn();
  }
  const open = readdirSync('/proc/self/fd').map(targetOf);
  const count = (pattern: RegExp): number => open.filter((target) => pattern.test(target)).length;
  const { heapUsed, external } = process.memoryUsage();
  const held: Held = {
    files: open.length - count(/^socket:|warehouse\.db/),
    warehouseFiles: count(/warehouse\.db/),
    sockets: count(/^socket:/),
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    mb: (heapUsed + external) / 1_048_576,
  };
  process.stderr.write(`${JSON.stringify({ held })}\n`);
}

/** The folder itself is open while it is read. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}

process.on('SIGUSR2', () => void report());
