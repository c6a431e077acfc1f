// Slices through a queue that many processes share. Who plans a run puts its slices there, works some of them like
// everybody else, and reads how they ended from the warehouse until none is left.
import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../core/clock.ts';
import { asRoadbookError, Fatal, Skippable } from '../../core/errors.ts';
import { noCounts } from '../../core/glossary.ts';
import type { Log } from '../../core/log.ts';
import { createPart } from '../../core/part.ts';
import { forgetSlices, toldSlices } from '../../warehouse/slice-outcomes.ts';
import type { Slice } from '../pull/pull-job.ts';
import type { Dispatcher, SliceOrder, SliceOutcome } from './dispatcher.ts';
import { outcomeFromJson } from './outcome-json.ts';
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
/** After so long without an outcome the queue is asked what has become of the slices. */
const SILENCE_MS = 10_000;
/** How long slices under way may take once the daemon drains; as long as the pull engine gives its own. */
const DRAIN_MS = 5_000;
/** How long slices may take to go back when the queue is closed under them. */
const CLOSE_MS = 1_000;

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
      await workReceived({ ...received, signal }, await queue.open(), parts);
      bells.get(received.message.runId)?.();
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
    await use();
    try {
      const opened = await queue.open();
      const messages = order.slices.map((slice) => messageOf(slice, order));
      const open = new Map(messages.map(({ id, slice }) => [id, slice]));
      await engine.write((tx) => opened.put(tx, messages));
      receiver.ring();
      await untilTold(order, opened, open);
    } finally {
      await leave();
    }
    if (signal.aborted) return;
    await forgetSlices(engine, context.runId);
  }

  async function untilTold(
    { context, take, signal }: SliceOrder,
    opened: SliceQueue,
    open: Map<string, Slice>,
  ): Promise<void> {
    const { runId, parts } = context;
    let last = 0;

    async function look(): Promise<boolean> {
      const told = await toldSlices(parts.engine, runId, last);
      for (const { position, slice_id, outcome } of told) {
        last = position;
        open.delete(slice_id);
        const { partIds } = outcome as { partIds: string[] };
        const known = outcomeFromJson(outcome);
        if (known.end === 'cut') {
          for (const [index, id] of partIds.entries()) open.set(id, known.parts[index] as Slice);
        }
        take(known);
      }
      return told.length > 0;
    }

    let quietSince = clock.monotonic();
    async function lookOn(): Promise<void> {
      if (await look()) quietSince = clock.monotonic();
      else if (clock.monotonic() - quietSince < SILENCE_MS) await untilRung(runId, signal);
      else {
        // What ends while the queue is asked is told by the look after it; parts that come with that are not lost.
        const asked = [...open];
        const unfinished = await opened.unfinished(runId);
        await look();
        for (const [id, slice] of asked) {
          if (!unfinished.has(id) && open.delete(id)) take(lost(slice));
        }
        quietSince = clock.monotonic();
      }
    }

    // A look that fails ends nothing: others go on working, and the signal aborts when the lease is lost.
    while (open.size > 0 && !signal.aborted) {
      await lookOn().catch(async (thrown) => {
        context.log.warn({ code: asRoadbookError(thrown).code }, 'slices could not be looked for');
        await untilRung(runId, signal);
      });
    }
    // Nothing of what is cancelled can be completed after it, so the look sees all that was. It may tell of one that was
    // cut just before; its parts are cancelled in the next round.
    while (open.size > 0) {
      const given = [...open.keys()];
      await opened.cancel(given);
      await look();
      for (const id of given) open.delete(id);
    }
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
      const patience = new AbortController();
      const stopped = receiver.stop();
      cut();
      await Promise.race([stopped, clock.sleep(CLOSE_MS, patience.signal)]);
      patience.abort();
      await queue.close();
      log.debug('queue closed');
    },
  };
}

function messageOf(slice: Slice, { context }: SliceOrder): SliceMessage {
  const { job, runId, options, period, lease } = context;
  if (lease === undefined) throw new Fatal(`${job} has no lease to share`, { code: 'unexpected' });
  // Only what tells it: the lease of a run also carries its engine, and that the address of the database.
  const { name, token } = lease;
  return { id: randomUUID(), job, runId, options, period, lease: { name, token }, slice };
}

/** The queue has given it up, or somebody took it out by hand. */
function lost({ scope }: Slice): SliceOutcome {
  const failure = new Skippable(`The slice ${scope} was given up: each process that worked on it died`, {
    code: 'slice_given_up',
    hint: 'Look into the logs of the daemons for what ended them; the next run reads it again.',
  });
  return { scope, counts: noCounts(), named: [], end: 'failed', failure };
}
