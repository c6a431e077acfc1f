// How the slices of one run ended, whoever worked them: read from the warehouse until none is open. Where nothing is told
// for long, the queue is asked which ones it has given up; where the run is to end, what is left is taken out of it.
import type { Clock } from '../../core/clock.ts';
import { asRoadbookError, Skippable } from '../../core/errors.ts';
import { noCounts } from '../../core/glossary.ts';
import { toldSlices } from '../../warehouse/slice-outcomes.ts';
import type { Slice, SliceOutcome } from '../slice.ts';
import type { SliceOrder } from './dispatcher.ts';
import { outcomeFromJson } from './outcome-json.ts';
import type { SliceQueue } from './slice-queue.ts';

/** After so long without an outcome the queue is asked what has become of the slices. */
const SILENCE_MS = 10_000;

interface Waiting {
  queue: Pick<SliceQueue, 'unfinished' | 'lastReason' | 'cancel'>;
  clock: Clock;
  /** Until it is worth looking again, or the signal aborts. */
  rest(runId: string, signal: AbortSignal): Promise<void>;
}

/** `open` holds the slices that were put into the queue, by their ids; none is left when it resolves. */
export async function untilTold(
  { context, take, signal }: SliceOrder,
  open: Map<string, Slice>,
  { queue, clock, rest }: Waiting,
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
    else if (clock.monotonic() - quietSince < SILENCE_MS) await rest(runId, signal);
    else {
      // What ends while the queue is asked is told by the look after it; parts that come with that are not lost.
      const asked = [...open];
      const unfinished = await queue.unfinished(runId);
      await look();
      for (const [id, slice] of asked) {
        if (unfinished.has(id) || !open.has(id)) continue;
        const reason = await queue.lastReason(id);
        open.delete(id);
        take(givenUp(slice, reason));
      }
      quietSince = clock.monotonic();
    }
  }

  // A look that fails ends nothing: others go on working, and the signal aborts when the lease is lost.
  while (open.size > 0 && !signal.aborted) {
    await lookOn().catch(async (thrown) => {
      context.log.warn({ code: asRoadbookError(thrown).code }, 'slices could not be looked for');
      await rest(runId, signal);
    });
  }
  // Nothing of what is cancelled can be completed after it, so the look sees all that was. It may tell of one that was
  // cut just before; its parts are cancelled in the next round.
  while (open.size > 0) {
    const given = [...open.keys()];
    await queue.cancel(given);
    await look();
    for (const id of given) open.delete(id);
  }
}

/** Without a reason somebody took it out by hand. */
function givenUp({ scope }: Slice, reason: string | undefined): SliceOutcome {
  const why =
    reason === undefined ? 'the queue has it no more' : `no attempt came to an end, the last: ${reason}`;
  const failure = new Skippable(`The slice ${scope} was given up: ${why}`, {
    code: 'slice_given_up',
    hint: 'Look into the logs of the daemons for what ended the attempts; the next run reads it again.',
  });
  return { scope, counts: noCounts(), named: [], end: 'failed', failure };
}
