// Reads every slice in the process that planned it, several at once: while one loads, others fetch. Works with every
// engine, because it needs no queue in the warehouse.
import PQueue from 'p-queue';
import type { Slice } from '../slice.ts';
import type { Dispatcher } from './dispatcher.ts';

export const localDispatcher: Dispatcher = {
  async dispatch({ slices, context, atOnce, isHistory, work, take, signal }) {
    const queue = new PQueue({ concurrency: atOnce });
    const mayStart = () => !signal.aborted && context.draining?.aborted !== true;
    const add = (slice: Slice): void =>
      void queue.add(
        async () => {
          if (!mayStart()) return;
          const outcome = await work(slice);
          take(outcome);
          if (outcome.end === 'cut') for (const slice of outcome.slices) add(slice);
        },
        // The parts of a current slice too are read before the history.
        { priority: isHistory(slice) ? 0 : 1 },
      );
    for (const slice of slices) add(slice);
    await queue.onIdle();
  },
  start: async () => undefined,
  stop: async () => undefined,
  facts: async () => null,
  close: async () => undefined,
};
