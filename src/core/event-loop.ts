// Heavy work takes turns: one piece of it for each turn of the event loop, so that timers, requests of the page and
// signals get through between two pieces however many are due.
import { setImmediate as nextTurn } from 'node:timers/promises';

let last: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other caller has. */
export function yieldToEventLoop(): Promise<void> {
  last = last.then(() => nextTurn());
  return last;
}
