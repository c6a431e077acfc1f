// One slice: read, check, map, write down, then commit rows, quarantine and coverage together. A crash at any instant
// leaves all of it or none of it.
import { isoInstant } from '../../core/clock.ts';
import { PRIORITY } from '../../core/limiter.ts';
import { invalidate, markCovered } from '../../warehouse/coverage.ts';
import type { LoadMetadata, Transaction } from '../../warehouse/engine.ts';
import { factMemory } from '../../warehouse/learned-facts.ts';
import { quarantine, quarantineRows, release } from '../../warehouse/quarantine.ts';
import { StaleRead } from '../../warehouse/stale-read.ts';
import { justMarked, markVanished } from '../../warehouse/vanished.ts';
import type { RunContext } from '../job.ts';
import type { Slice } from '../slice.ts';
import { mapCalls } from './calls.ts';
import { writtenCoverage } from './plan/backfill-progress.ts';
import { type Batch, type Batches, createBatches } from './records/batch.ts';
import { mapRecords } from './records/map-records.ts';
import type { FullRefreshRange, Prepared } from './records/types.ts';
import type { NamesInSlice } from './references.ts';
import type { AnyPull, SliceResult, Source } from './types.ts';

export interface SliceCounts {
  records: number;
  inserted: number;
  updated: number;
  unchanged: number;
  quarantined: number;
}

/** Readings of a slice that another run overtakes each time, before it is left to the next run. */
const READINGS = 3;

/** The last word in the transaction. */
type CommitHook = (tx: Transaction, counts: SliceCounts) => Promise<void> | undefined;

export async function pullSlice(
  job: AnyPull,
  slice: Slice,
  context: RunContext,
  names: NamesInSlice,
  commitHook: CommitHook,
): Promise<SliceCounts> {
  for (let reading = 1; ; reading++) {
    const atEnd: (() => void)[] = [];
    const { engine, privacy, clock } = context.parts;
    const newBatches = () => createBatches({ engine, privacy, references: names.references });
    const readAt = isoInstant(clock.now());
    const ahead: SliceCounts = { records: 0, inserted: 0, updated: 0, unchanged: 0, quarantined: 0 };
    const store = async (result: SliceResult, batches: Batches, last?: CommitHook): Promise<SliceCounts> =>
      loadSlice(result, await readyBatches(result, batches), { readAt, context, ahead, commitHook: last });
    const commitPart: Source['commitPart'] = async (part) => {
      Object.assign(ahead, await store({ ...part, covers: [] }, newBatches()));
    };
    const batches = newBatches();
    try {
      const source = sourceOf(context, { readAt, atEnd, commitPart, prepare: batches.prepare });
      context.log.debug({ scope: slice.scope }, 'slice begun');
      const result = await job.read(slice, source, context.options);
      context.log.debug({ scope: slice.scope }, 'slice read');
      names.noteUnknown(result.unknown ?? []);
      return await store(result, batches, commitHook);
    } catch (thrown) {
      if (!(thrown instanceof StaleRead) || reading === READINGS) throw thrown;
      context.log.info({ scope: slice.scope, err: thrown }, 'stale read, slice is read again');
    } finally {
      for (const work of atEnd) work();
    }
  }
}

/** Gets all of it ready, so that inside the transaction there is only SQL. */
async function readyBatches({ loads, fullRefresh }: SliceResult, batches: Batches): Promise<Batch[]> {
  const parts: Prepared[] = [];
  for (const load of loads)
    parts.push('written' in load ? load : await batches.prepare(load, { fullRefresh }));
  return batches.finish(parts);
}

interface Loading {
  readAt: string;
  context: RunContext;
  /** What parts of the slice brought that are stored already. */
  ahead: Readonly<SliceCounts>;
  commitHook?: CommitHook | undefined;
}

/** Gives the counts of the slice up to now. */
async function loadSlice(
  result: SliceResult,
  batches: readonly Batch[],
  { readAt, context, ahead, commitHook }: Loading,
): Promise<SliceCounts> {
  const { parts, runId } = context;
  const invalid = quarantineRows(
    context.job,
    batches.flatMap(({ invalid }) => invalid),
    parts.redactor,
  );
  const load = async (tx: Transaction): Promise<SliceCounts> => {
    // Once it is its turn: what others stored while it waited for that was not stored later.
    const metadata = { runId, at: isoInstant(parts.clock.now()), readAt };
    const counts = { ...ahead };
    const filled = await filledRanges(tx, result);
    for (const part of batches) {
      const { inserted, updated, unchanged } = await tx.loadWritten(part.table, part.written, metadata);
      await release(tx, part.table.name, part.keyTexts);
      counts.records += part.rows + part.invalid.length + part.superseded;
      counts.inserted += inserted;
      counts.updated += updated;
      counts.unchanged += unchanged + part.superseded;
      counts.quarantined += part.invalid.length;
    }
    await quarantine(tx, invalid, metadata);
    await markAllVanished(tx, filled, batches, metadata);
    const job = writtenCoverage(context);
    if (job !== undefined) {
      const by = { job, runId, at: readAt };
      for (const covers of result.covers) await markCovered(tx, covers, by);
      for (const gone of result.invalidated ?? []) await invalidate(tx, gone, by);
    }
    await commitHook?.(tx, counts);
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
    sort: (load) => mapRecords(load, parts.privacy),
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
async function filledRanges(tx: Transaction, result: SliceResult): Promise<FullRefreshRange[]> {
  const filled: FullRefreshRange[] = [];
  for (const refresh of result.fullRefresh ?? [])
    if (await tx.hasPresent(refresh.table, refresh.range)) filled.push(refresh);
  return filled;
}

async function markAllVanished(
  tx: Transaction,
  ranges: readonly FullRefreshRange[],
  parts: readonly Batch[],
  metadata: LoadMetadata,
) {
  for (const refresh of ranges) {
    const part = parts.find((each) => each.table === refresh.table);
    if (part?.allSeen === false && refresh.isSure !== true) continue;
    await markRange(tx, refresh, parts, metadata);
  }
}

/** What vanishes takes with it what is part of it, such as the executions of a point: no answer speaks of those. */
async function markRange(
  tx: Transaction,
  refresh: FullRefreshRange,
  parts: readonly Batch[],
  metadata: LoadMetadata,
) {
  const { table, range, alsoSeen = [] } = refresh;
  const met = parts.find((each) => each.table === table);
  const keys = () => [...(met?.seen() ?? []), ...alsoSeen];
  const inside = met?.inside(refresh) ?? 0;
  const marked = await markVanished(tx, { table, range }, { inside, keys }, metadata);
  const owned = parts.flatMap((part) => (part.table.partOf?.table === table.name ? [part.table] : []));
  if (marked === 0 || owned.length === 0) return;
  const owners = await justMarked(tx, { table, range }, metadata);
  for (const part of owned) {
    const column = part.partOf?.column ?? '';
    await markRange(tx, { table: part, range: { [column]: { in: owners } } }, parts, metadata);
  }
}
