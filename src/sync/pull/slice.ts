// One slice: read, check, map, write down, then commit rows, quarantine and coverage together. A crash at any instant
// leaves all of it or none of it.
import { isoInstant } from '../../core/clock.ts';
import { PRIORITY } from '../../core/limiter.ts';
import { cover, uncover } from '../../warehouse/coverage.ts';
import type { Stamp, Transaction } from '../../warehouse/engine.ts';
import { factMemory } from '../../warehouse/learned-facts.ts';
import { Overtaken } from '../../warehouse/overtaken.ts';
import { quarantine, quarantineRows, release } from '../../warehouse/quarantine.ts';
import { justMarked, markVanished } from '../../warehouse/vanished.ts';
import type { RunContext } from '../job.ts';
import type { Slice } from '../slice.ts';
import { writtenCoverage } from './backfill-progress.ts';
import { mapCalls } from './calls.ts';
import type { NamesInSlice } from './dimension-check.ts';
import { type Batch, type Batches, createBatches } from './records/batch.ts';
import type { Prepared, Whole } from './records/types.ts';
import { sortRecords } from './sorting.ts';
import type { AnyPull, Harvest, Source } from './types.ts';

export interface SliceCounts {
  records: number;
  inserted: number;
  updated: number;
  unchanged: number;
  quarantined: number;
}

/** Readings of a slice that another run overtakes each time, before it is left to the next run. */
const READINGS = 3;

export async function pullSlice(
  job: AnyPull,
  slice: Slice,
  context: RunContext,
  names: NamesInSlice,
): Promise<SliceCounts> {
  for (let reading = 1; ; reading++) {
    const atEnd: (() => void)[] = [];
    const { engine, privacy, clock } = context.parts;
    const newBatches = () => createBatches({ engine, privacy, references: names.references });
    const readAt = isoInstant(clock.now());
    const ahead: SliceCounts = { records: 0, inserted: 0, updated: 0, unchanged: 0, quarantined: 0 };
    const store = async (harvest: Harvest, batches: Batches): Promise<SliceCounts> =>
      loadSlice(harvest, await readyBatches(harvest, batches), { readAt, context, ahead });
    const commitPart: Source['commitPart'] = async (part) => {
      Object.assign(ahead, await store({ ...part, covers: [] }, newBatches()));
    };
    const batches = newBatches();
    try {
      const source = sourceOf(context, { readAt, atEnd, commitPart, prepare: batches.prepare });
      context.log.debug({ scope: slice.scope }, 'slice begun');
      const harvest = await job.read(slice, source, context.options);
      context.log.debug({ scope: slice.scope }, 'slice read');
      names.noteUnknown(harvest.unknown ?? []);
      return await store(harvest, batches);
    } catch (thrown) {
      if (!(thrown instanceof Overtaken) || reading === READINGS) throw thrown;
      context.log.info({ scope: slice.scope, err: thrown }, 'slice overtaken, read again');
    } finally {
      for (const work of atEnd) work();
    }
  }
}

/** Gets all of it ready, so that inside the transaction there is only SQL. */
async function readyBatches({ loads, whole }: Harvest, batches: Batches): Promise<Batch[]> {
  const parts: Prepared[] = [];
  for (const load of loads) parts.push('written' in load ? load : await batches.prepare(load, { whole }));
  return batches.finish(parts);
}

interface Loading {
  readAt: string;
  context: RunContext;
  /** What parts of the slice brought that are stored already. */
  ahead: Readonly<SliceCounts>;
}

/** Gives the counts of the slice up to now. */
async function loadSlice(
  harvest: Harvest,
  batches: readonly Batch[],
  { readAt, context, ahead }: Loading,
): Promise<SliceCounts> {
  const { parts, runId } = context;
  const invalid = quarantineRows(
    context.job,
    batches.flatMap(({ misfits }) => misfits),
    parts.redactor,
  );
  const load = async (tx: Transaction): Promise<SliceCounts> => {
    // Once it is its turn: what others stored while it waited for that was not stored later.
    const stamp = { runId, at: isoInstant(parts.clock.now()), readAt };
    const counts = { ...ahead };
    const filled = await filledRanges(tx, harvest);
    for (const part of batches) {
      const { inserted, updated, unchanged } = await tx.loadWritten(part.table, part.written, stamp);
      await release(tx, part.table.name, part.keyTexts);
      counts.records += part.rows + part.misfits.length + part.superseded;
      counts.inserted += inserted;
      counts.updated += updated;
      counts.unchanged += unchanged + part.superseded;
      counts.quarantined += part.misfits.length;
    }
    await quarantine(tx, invalid, stamp);
    await markAllVanished(tx, filled, batches, stamp);
    const job = writtenCoverage(context);
    if (job !== undefined) {
      const by = { job, runId, at: readAt };
      for (const covers of harvest.covers) await cover(tx, covers, by);
      for (const gone of harvest.uncovers ?? []) await uncover(tx, gone, by);
    }
    return counts;
  };
  const loaded = await parts.engine.write(load, { isLong: true });
  parts.onSlice?.();
  return loaded;
}

function sourceOf(
  context: RunContext,
  own: Pick<Source, 'readAt' | 'commitPart' | 'prepare'> & { atEnd: (() => void)[] },
): Source {
  const { parts, counts, period } = context;
  const callUntil =
    (signal: AbortSignal): Source['call'] =>
    (endpoint, request) =>
      parts.fleet.call(endpoint, request, {
        signal,
        priority: period?.resumable === true ? PRIORITY.history : PRIORITY.live,
        onRequest: () => {
          counts.requests++;
        },
        onRetry: () => {
          counts.retries++;
        },
      });
  const source: Source = {
    ...own,
    call: callUntil(context.signal),
    mapCalls: (items, work) =>
      mapCalls(items, context.signal, (signal) => {
        const calling = { ...source, call: callUntil(signal) };
        return (item) => work(item, calling);
      }),
    sort: (load) => sortRecords(load, parts.privacy),
    asStored: parts.privacy.asStored,
    warehouse: parts.engine,
    recall: (name) => factMemory<never>(parts.engine, name).read(),
    remember: (name, fact) => factMemory<typeof fact>(parts.engine, name).write(fact, parts.clock.now()),
    atEnd: (work) => void own.atEnd.push(work),
    urlBytes: parts.fleet.urlBytes,
    images: parts.images,
    timezone: parts.timezone,
  };
  return source;
}

/** The full-refresh ranges that hold a row before anything is loaded: in the others nothing can have vanished. */
async function filledRanges(tx: Transaction, harvest: Harvest): Promise<Whole[]> {
  const filled: Whole[] = [];
  for (const whole of harvest.whole ?? [])
    if (await tx.hasPresent(whole.table, whole.extent)) filled.push(whole);
  return filled;
}

async function markAllVanished(
  tx: Transaction,
  wholes: readonly Whole[],
  parts: readonly Batch[],
  stamp: Stamp,
) {
  for (const whole of wholes) {
    const part = parts.find((each) => each.table === whole.table);
    if (part?.allSeen === false && whole.isSure !== true) continue;
    await markWhole(tx, whole, parts, stamp);
  }
}

/** What vanishes takes with it what is part of it, such as the executions of a point: no answer speaks of those. */
async function markWhole(tx: Transaction, whole: Whole, parts: readonly Batch[], stamp: Stamp) {
  const { table, extent, alsoSeen = [] } = whole;
  const met = parts.find((each) => each.table === table);
  const keys = () => [...(met?.seen() ?? []), ...alsoSeen];
  const inside = met?.inside(whole) ?? 0;
  const marked = await markVanished(tx, { table, extent }, { inside, keys }, stamp);
  const owned = parts.flatMap((part) => (part.table.partOf?.table === table.name ? [part.table] : []));
  if (marked === 0 || owned.length === 0) return;
  const owners = await justMarked(tx, { table, extent }, stamp);
  for (const part of owned) {
    const column = part.partOf?.column ?? '';
    await markWhole(tx, { table: part, extent: { [column]: { in: owners } } }, parts, stamp);
  }
}
