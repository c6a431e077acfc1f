// Slices through a queue that many processes share. Who plans a run puts its slices there, works some of them like
// everybody else, and reads how they ended from the warehouse until none is left.
import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../core/clock.ts';
import { asRoadbookError, Fatal } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { createPart } from '../../core/part.ts';
import { forgetSlices } from '../../warehouse/slice-outcomes.ts';
import type { Slice, SliceOutcome } from '../slice.ts';
import type { Dispatcher, SliceOrder } from './dispatcher.ts';
import { untilTold } from './queued-outcomes.ts';
import { createReceiver } from './receiver.ts';
import type { SliceMessage, SliceQueue } from './slice-queue.ts';
import { type WorkerParts, workReceived } from './slice-worker.ts';

export interface QueuedOptions extends Pick<WorkerParts, 'find' | 'during'> {
  /** Opened when first used. */
  open(): Promise<SliceQueue>;
  /** Slices at once in this process. */
  workers: number;
  log: Log;
  /** Paces the looks; real time unless told. */
  clock?: Clock;
}

/** How often outcomes are looked for; what ends in this process is seen at once. */
const LOOK_MS = 250;
/** How long slices under way may take once the daemon drains; as long as the pull engine gives its own. */
const DRAIN_MS = 5_000;
/** How long slices may take to go back when the queue is closed under them. */
const CLOSE_MS = 1_000;
/** How long the server of the queue may take to let go. */
const GOODBYE_MS = 5_000;

export function createQueuedDispatcher(options: QueuedOptions): Dispatcher {
  const { workers, log, clock = systemClock } = options;
  const queue = createPart('queue', options.open, (opened) => opened.close());
  /** Aborts the slices under way in this process. */
  let cutting = new AbortController();
  /** Wakes who waits for a run of this process. */
  const bells = new Map<string, () => void>();
  let users = 0;
  let turn: Promise<void> = Promise.resolve();

  const parts: WorkerParts = { ...options, newId: randomUUID, clock };

  const receiver = createReceiver({
    next: async (except) => (await queue.open()).next(except),
    workers,
    atOnce(name) {
      const job = options.find(name);
      return job?.workSlice === undefined ? 0 : (job.slicesAtOnce ?? workers);
    },
    async work(received) {
      const signal = AbortSignal.any([received.signal, cutting.signal]);
      const isAble = await workReceived({ ...received, signal }, await queue.open(), parts);
      bells.get(received.message.runId)?.();
      return isAble;
    },
    clock,
    log,
  });

  function cut(): void {
    cutting.abort();
    cutting = new AbortController();
  }

  /** The slices that are under way get `graceMs`, then they go back to the queue. */
  async function pause(graceMs: number): Promise<void> {
    const done = new AbortController();
    const waited = clock.sleep(graceMs, done.signal).then(cut, () => undefined);
    await receiver.stop();
    done.abort();
    await waited;
  }

  /** One after another: a pause that is under way is waited for before the next start. */
  const inTurn = (step: () => Promise<void>): Promise<void> => {
    turn = turn.then(step, step);
    return turn;
  };
  const use = () =>
    inTurn(async () => {
      await queue.open();
      if (users++ === 0) receiver.start();
    });
  const leave = () => inTurn(async () => (--users === 0 ? pause(0) : undefined));

  async function dispatch(order: SliceOrder): Promise<void> {
    const { context, signal } = order;
    const { engine } = context.parts;
    const mayBegin = !signal.aborted && context.draining?.aborted !== true;
    if (order.slices.length === 0 || !mayBegin) return;
    let isWhole = true;
    const take = (outcome: SliceOutcome): void => {
      if (outcome.end === 'failed') isWhole = false;
      order.take(outcome);
    };
    await use();
    try {
      const opened = await queue.open();
      const messages = order.slices.map((slice, turn) => messageOf(slice, turn, order));
      const open = new Map(messages.map(({ id, slice }) => [id, slice]));
      await engine.write((tx) => opened.put(tx, messages));
      receiver.ring();
      await untilTold({ ...order, take }, open, { queue: opened, clock, rest: untilRung });
      if (isWhole && !signal.aborted) await forgetDead(opened, context);
    } finally {
      await leave();
    }
    if (signal.aborted) return;
    await forgetSlices(engine, context.runId);
  }

  /** A run that read all it planned has read what earlier ones left; where they cannot be cleared now, the next one does it. */
  const forgetDead = (opened: SliceQueue, { job, period, log }: SliceOrder['context']): Promise<void> =>
    opened.forgetDead({ job, period }).catch((thrown) => {
      log.warn({ code: asRoadbookError(thrown).code }, 'dead slices could not be cleared');
    });

  async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
    const patience = new AbortController();
    await Promise.race([work, clock.sleep(ms, patience.signal)]).finally(() => patience.abort());
  }

  async function untilRung(runId: string, signal: AbortSignal): Promise<void> {
    const rung = new AbortController();
    bells.set(runId, () => rung.abort());
    await clock.sleep(LOOK_MS, AbortSignal.any([rung.signal, signal])).catch(() => undefined);
    bells.delete(runId);
  }

  return {
    dispatch,
    start: use,
    // Also while a run of this process goes on: what is left of it is for others, or for the next run.
    stop: () =>
      inTurn(async () => {
        users--;
        await pause(DRAIN_MS);
      }),
    facts: async () => (await queue.open()).facts(),
    async close() {
      const stopped = receiver.stop();
      cut();
      await atMost(CLOSE_MS, stopped);
      await atMost(GOODBYE_MS, queue.close());
      log.debug('queue closed');
    },
  };
}

function messageOf(slice: Slice, turn: number, { context }: SliceOrder): SliceMessage {
  const { job, runId, options, period, lease } = context;
  if (lease === undefined) throw new Fatal(`${job} has no lease to share`, { code: 'unexpected' });
  // Only what tells it: the lease of a run also carries its engine, and that the address of the database.
  const { name, token } = lease;
  return { id: randomUUID(), job, runId, options, period, lease: { name, token }, slice, turn };
}
