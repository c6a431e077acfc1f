// Splits heavy work over turns of the event loop, so that timers, page requests and signals are served in between.
import { setImmediate as nextTurn } from 'node:timers/promises';

let last: Promise<void> = Promise.resolve();

/** Each caller gets its own turn of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  last = last.then(() => nextTurn());
  return last;
}
