// One measured way of getting the same events, in a process of its own: the peak memory is then its own too.
//   parse    got and JSON.parse alone, nothing kept: the cost of the network and the parser
//   bare     rows in memory through the barest statement that could store them
//   pull     the product, end to end, into an empty warehouse
//   again    the product, the same events once more in one process, as a daemon reads them: nothing has changed
//   changed  the product, the same events once more after a restart: one in a hundred has changed
//   script   the script that a user would write instead
//   scriptAgain  the script, the same events once more
//   indexed  the script into a table with the indexes of the warehouse
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { peakMb } from '../../support/measure/peak-memory.ts';
import type { Measured, Task } from '../task.ts';
import { bareSeconds } from './bare.ts';
import { readAll } from './bodies.ts';
import { prepareProduct } from './product.ts';
import { script } from './script.ts';

const task = JSON.parse(process.argv[2] ?? '{}') as Task;
const product = ['pull', 'again', 'changed'].includes(task.way) ? await prepareProduct(task) : undefined;
if (task.way === 'again') await product?.pullEvents();
if (task.way === 'changed') await product?.spoil();

/** Seconds where only a part of the work counts. */
async function work(): Promise<{ rows: number; seconds?: number }> {
  if (product !== undefined) {
    const { records, updated } = await product.pullEvents();
    const share = updated / records;
    const isAsMeant = task.way === 'changed' ? share > 0.005 && share < 0.02 : updated === 0;
    if (!isAsMeant) throw new Error(`${updated} of ${records} events were updated`);
    return { rows: records };
  }
  if (['script', 'scriptAgain', 'indexed'].includes(task.way)) return { rows: await script(task) };
  if (task.way === 'bare') return { rows: task.rows, seconds: await bareSeconds(task) };
  return { rows: await readAll(task, async () => undefined) };
}

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
const started = performance.now();
const usedBefore = process.cpuUsage();
const { rows, seconds = (performance.now() - started) / 1_000 } = await work();
delay.disable();
if (rows < task.rows) throw new Error(`${task.way}: ${rows} of ${task.rows} events came`);
const { user, system } = process.cpuUsage(usedBefore);
const result: Measured = {
  rows,
  seconds,
  cpuSeconds: (user + system) / 1e6,
  loopDelayMs: delay.percentile(99) / 1e6,
  peakMb: peakMb(),
};
process.stdout.write(`${JSON.stringify(result)}\n`);
await product?.close();
