// Works one slice of the queue on behalf of whoever planned its run. Its rows, the word that it is done and how it
// ended are one transaction, which is refused once the run's lease has changed hands; so a slice that was given out
// twice is loaded and counted once, and one of a run that was given up writes nothing.
import type { Clock } from '../../core/clock.ts';
import { Fatal, Retriable, RoadbookError } from '../../core/errors.ts';
import { noCounts } from '../../core/glossary.ts';
import type { Engine, Transaction } from '../../warehouse/engine.ts';
import { helpersEngine } from '../../warehouse/fenced-engine.ts';
import { isHeld, type Lease } from '../../warehouse/leases.ts';
import { tellSlice } from '../../warehouse/slice-outcomes.ts';
import type { NamedJob, RunContext } from '../job.ts';
import type { SyncParts } from '../sync-parts.ts';
import type { SliceOutcome } from './dispatcher.ts';
import { outcomeToJson } from './outcome-json.ts';
import type { Received, SliceMessage, SliceQueue } from './slice-queue.ts';

/** How often it is asked whether the run is still wanted. */
const LOOK_MS = 1_000;

/** Nobody waits for the slice any more: it is not given out again. */
const OVER: ReadonlySet<string> = new Set(['slice_taken', 'lease_lost']);

export interface WorkerParts {
  find(job: string): NamedJob | undefined;
  /** The parts of this process, held for as long as the slice takes. */
  during<T>(work: (parts: SyncParts) => Promise<T>): Promise<T>;
  newId(): string;
  /** Paces the looks; real time, as the queue's. */
  clock: Clock;
}

/** Throws where somebody should work the slice again. */
export async function workReceived(
  { message, signal }: Received,
  queue: SliceQueue,
  parts: WorkerParts,
): Promise<void> {
  await parts.during(async (own) => {
    if (!(await own.engine.read((sql) => isHeld(sql, message.lease)))) return;
    const over = new AbortController();
    const watched = watch(own.engine, message.lease, parts.clock, over);
    try {
      const context = contextOf(message, own, AbortSignal.any([signal, over.signal]));
      await workOne(message, context, queue, parts);
    } catch (thrown) {
      const isOver = over.signal.aborted || (thrown instanceof RoadbookError && OVER.has(thrown.code));
      if (!isOver) throw thrown;
      own.log.debug({ run_id: message.runId, scope: message.slice.scope }, 'slice dropped');
    } finally {
      watched.stop();
    }
  });
}

async function workOne(
  message: SliceMessage,
  context: RunContext,
  queue: SliceQueue,
  { find, newId }: WorkerParts,
): Promise<void> {
  const job = find(message.job);
  if (job?.workSlice === undefined)
    throw new Retriable(`No such pull: ${message.job}`, { code: 'unknown_job' });

  async function settle(tx: Transaction, outcome: SliceOutcome): Promise<void> {
    if (!(await queue.complete(tx, message.id))) throw taken();
    const parts = outcome.end === 'cut' ? outcome.parts : [];
    const cut = parts.map((slice) => ({ ...message, id: newId(), slice }));
    if (cut.length > 0) await queue.put(tx, cut);
    const told = { ...outcomeToJson(outcome), partIds: cut.map(({ id }) => id) };
    await tellSlice(tx.sql, message.runId, message.id, told);
  }

  const outcome = await job.workSlice(message.slice, context, settle);
  if (outcome.end === 'stopped') throw new Retriable('The slice was stopped', { code: 'stopped' });
  // What only this process met is for another one; what nobody waits for is told by nobody.
  if (outcome.end === 'failed' && isOwn(outcome.failure)) throw outcome.failure;
  // What was loaded is settled with its rows.
  if (outcome.end !== 'loaded') await context.parts.engine.write((tx) => settle(tx, outcome));
}

const isOwn = ({ code }: RoadbookError): boolean => OVER.has(code) || code.startsWith('warehouse_');

const contextOf = (
  { job, runId, options, period, lease }: SliceMessage,
  parts: SyncParts,
  signal: AbortSignal,
): RunContext => ({
  job,
  runId,
  options,
  period,
  lease,
  counts: noCounts(),
  parts: { ...parts, engine: helpersEngine(parts.engine, lease) },
  log: parts.log.child({ job, run_id: runId }),
  signal,
});

/** Ends the slice early when its run has ended or changed hands. */
function watch(engine: Engine, lease: Lease, clock: Clock, over: AbortController): { stop(): void } {
  const done = new AbortController();
  const loop = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await clock.sleep(LOOK_MS, done.signal);
      // A look that fails says nothing; the transaction of the slice asks again.
      if (!(await engine.read((sql) => isHeld(sql, lease)).catch(() => true))) over.abort();
    }
  };
  void loop().catch(() => undefined);
  return { stop: () => done.abort() };
}

const taken = (): Fatal =>
  new Fatal('The slice was done by somebody else, or is not wanted any more', { code: 'slice_taken' });
