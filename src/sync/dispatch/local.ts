// Every slice in the process that planned it, several at once: while one loads, others fetch. Needs nothing of the
// warehouse, so it serves any engine.
import PQueue from 'p-queue';
import type { Slice } from '../slice.ts';
import type { Dispatcher } from './dispatcher.ts';

export const localDispatcher: Dispatcher = {
  async dispatch({ slices, context, atOnce, work, take, signal }) {
    const lanes = new PQueue({ concurrency: atOnce });
    const mayBegin = () => !signal.aborted && context.draining?.aborted !== true;
    const add = (slice: Slice): void =>
      void lanes.add(async () => {
        if (!mayBegin()) return;
        const outcome = await work(slice);
        take(outcome);
        if (outcome.end === 'cut') for (const slice of outcome.slices) add(slice);
      });
    for (const slice of slices) add(slice);
    await lanes.onIdle();
  },
  start: async () => undefined,
  stop: async () => undefined,
  facts: async () => null,
  close: async () => undefined,
};
