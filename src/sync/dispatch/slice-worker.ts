// Works one slice of the queue on behalf of whoever planned its run. Its rows, the word that it is done and how it
// ended are one transaction, which is refused once the run's lease has changed hands; so a slice that was given out
// twice is loaded and counted once, and one of a run that was given up writes nothing.
import type { Clock } from '../../core/clock.ts';
import { asRoadbookError, Fatal, type RoadbookError } from '../../core/errors.ts';
import { noCounts } from '../../core/glossary.ts';
import type { Log } from '../../core/log.ts';
import type { Engine, Transaction } from '../../warehouse/engine.ts';
import { helpersEngine } from '../../warehouse/fenced-engine.ts';
import { isHeld, isHeldBy, type Lease } from '../../warehouse/leases.ts';
import { tellSlice } from '../../warehouse/slice-outcomes.ts';
import { thisProcess } from '../../warehouse/this-process.ts';
import type { NamedJob, RunContext } from '../job.ts';
import type { SliceOutcome } from '../slice.ts';
import type { SyncParts } from '../sync-parts.ts';
import { outcomeToJson } from './outcome-json.ts';
import type { Received, SliceMessage, SliceQueue, WorkEnd } from './slice-queue.ts';

/** How often it is asked whether the run is still wanted. */
const LOOK_MS = 1_000;

/** Nobody waits for the slice any more: it is not given out again. */
const OVER: ReadonlySet<string> = new Set(['slice_taken', 'lease_lost']);

/**
 * What may be the trouble of one machine: its login, its way to the service, its folder for pictures. Whoever planned the
 * run tells it as how the slice ended; anyone else leaves the slice to the others.
 */
const LOCAL: ReadonlySet<string> = new Set([
  'login_refused',
  'login_unavailable',
  'service_unreachable',
  'images_unwritable',
]);

export interface WorkerParts {
  find(job: string): NamedJob | undefined;
  /** The parts of this process, held for as long as the slice takes. */
  during<T>(work: (parts: SyncParts) => Promise<T>): Promise<T>;
  newId(): string;
  /** Paces the looks; real time, as the queue's. */
  clock: Clock;
  log: Log;
}

/** Where the parts of a slice that was cut go. */
type Puts = Pick<SliceQueue, 'put'>;

/**
 * Works it and tells the queue how that ended; throws only where the queue cannot be told. False where this process
 * could not, so that it had better leave slices to others for a while.
 */
export async function workReceived(received: Received, queue: Puts, parts: WorkerParts): Promise<boolean> {
  const { runId, lease, slice } = received.message;
  const over = new AbortController();
  const work = async (own: SyncParts): Promise<WorkEnd | 'unable'> => {
    if (!(await own.engine.read((sql) => isHeld(sql, lease)))) return 'dropped';
    const watched = watch(own.engine, lease, parts.clock, over);
    const signal = AbortSignal.any([received.signal, over.signal]);
    return workOne(received, contextOf(received.message, own, signal), queue, parts).finally(watched.stop);
  };
  let failed: string | undefined;
  const told = await parts.during(work).catch((thrown): WorkEnd => {
    const { code } = asRoadbookError(thrown);
    if (OVER.has(code)) return 'dropped';
    failed = code;
    parts.log.warn({ run_id: runId, scope: slice.scope, code }, 'slice is for another worker');
    return 'failed';
  });
  const how = told === 'unable' ? 'stopped' : told;
  await received.end(over.signal.aborted && how !== 'settled' ? 'dropped' : how, failed);
  return told !== 'unable';
}

/** Throws where only this process could not, or where nobody should. */
async function workOne(
  { message, complete }: Received,
  context: RunContext,
  queue: Puts,
  { find, newId, log }: WorkerParts,
): Promise<WorkEnd | 'unable'> {
  const job = find(message.job);
  if (job?.workSlice === undefined) return 'stopped';

  async function settle(tx: Transaction, outcome: SliceOutcome): Promise<void> {
    if (!(await complete(tx))) throw taken();
    const parts = outcome.end === 'cut' ? outcome.parts : [];
    const cut = parts.map((slice) => ({ ...message, id: newId(), slice }));
    if (cut.length > 0) await queue.put(tx, cut);
    const told = { ...outcomeToJson(outcome), partIds: cut.map(({ id }) => id) };
    await tellSlice(tx.sql, message.runId, message.id, told);
  }

  const outcome = await job.workSlice(message.slice, context, settle);
  if (outcome.end === 'stopped') return 'stopped';
  if (outcome.end === 'failed' && LOCAL.has(outcome.failure.code) && !(await isPlannedHere(context))) {
    const { code } = outcome.failure;
    log.warn({ run_id: message.runId, scope: message.slice.scope, code }, 'slice is left to others');
    return 'unable';
  }
  // What only this process met is for another one; what nobody waits for is told by nobody.
  if (outcome.end === 'failed' && isOwn(outcome.failure)) throw outcome.failure;
  // What was loaded is settled with its rows.
  if (outcome.end !== 'loaded') await context.parts.engine.write((tx) => settle(tx, outcome));
  return 'settled';
}

const isPlannedHere = ({ parts, lease }: RunContext): Promise<boolean> =>
  parts.engine.read(async (sql) => lease !== undefined && (await isHeldBy(sql, lease, thisProcess)));

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
