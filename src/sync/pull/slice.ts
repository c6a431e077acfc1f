// Reads one slice: calls the service, validates, maps and serialises the records, then commits rows, quarantine and
// coverage in one transaction. A crash at any instant leaves all of it or none of it.
import { addCounts, type RunCounts, zeroCounts } from '../../core/glossary.ts';
import type { Redactor } from '../../core/text/redaction.ts';
import { isoInstant } from '../../core/time/clock.ts';
import {
  coveredBounds,
  invalidate,
  markCovered,
  type ScopedInterval,
  UNTIL_READ,
} from '../../warehouse/control/coverage.ts';
import { quarantine, quarantineRows, release } from '../../warehouse/control/quarantine.ts';
import type { LoadMetadata, Transaction } from '../../warehouse/engine.ts';
import { forgetKnownRows } from '../../warehouse/load/known-rows.ts';
import { StaleRead } from '../../warehouse/load/stale-read.ts';
import { justMarked, markVanished } from '../../warehouse/load/vanished.ts';
import { rejectOtherPolicies } from '../../warehouse/privacy/rewrite.ts';
import type { Comparison, RunContext } from '../job.ts';
import type { Slice } from '../slice.ts';
import { createSource } from './calls.ts';
import { compareBatches } from './compare.ts';
import { writtenCoverage } from './plan/backfill-progress.ts';
import { canBeCut, MOST_UNCUT, recordLimit } from './plan/slice-limits.ts';
import { untilRead } from './plan/window-slices.ts';
import { intervalOf, spanOf, withoutEnds } from './plan/windows.ts';
import { type Batch, type Batches, createBatches } from './records/batch.ts';
import type { FullRefreshRange, Prepared } from './records/types.ts';
import type { SliceReferences } from './references.ts';
import type { Pull, SliceResult } from './types.ts';

/** Attempts to read a slice whose reads are stale, before it is left to the next run. */
const MOST_ATTEMPTS = 3;

/** Adds the counts of each transaction to those of the context. */
export async function pullSlice(job: Pull, slice: Slice, context: RunContext, references: SliceReferences) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readOnce(job, slice, context, references);
    } catch (thrown) {
      if (!(thrown instanceof StaleRead) || attempt === MOST_ATTEMPTS) throw thrown;
      context.log.info({ scope: slice.scope, err: thrown }, 'stale read, slice is read again');
    }
  }
}

/** Reads the slice and commits it. */
async function readOnce(job: Pull, slice: Slice, context: RunContext, references: SliceReferences): Promise<void> {
  const { engine, privacy, clock } = context.dependencies;
  const newBatches = () => createBatches({ engine, privacy, references: references.noteIn });
  const batches = newBatches();
  const isDivisible = (): boolean => canBeCut(job, slice);
  const countRecords = recordLimit(isDivisible);
  const cleanups: (() => void)[] = [];
  const loading: Loading = { job, context, slice, readAt: isoInstant(clock.now()) };
  const compared: Comparison[] = [];
  const finish = async (result: SliceResult, ready: readonly Batch[]): Promise<void> => {
    if (context.comparing === undefined) return commit(result, ready, loading);
    compared.push(...(await compareOrRepair(result, ready, loading)));
  };
  const source = createSource(slice, context, {
    readAt: loading.readAt,
    async prepare(load, how) {
      countRecords(load.records.length);
      return batches.prepare(load, how);
    },
    commitPart: async (part) => finish({ ...part, covered: [] }, await readyBatches(part, newBatches(), isDivisible)),
    atEnd: (cleanup) => void cleanups.push(cleanup),
  });
  try {
    context.log.debug({ scope: slice.scope }, 'slice begun');
    const result = await job.read(slice, source, context.options);
    context.log.debug({ scope: slice.scope }, 'slice read');
    references.noteUnknown(result.unknown);
    await finish(result, await readyBatches(result, batches, isDivisible));
    context.comparing?.take(compared);
  } catch (thrown) {
    // Parts that were stored ahead may have repaired rows, which are equal when they are compared again.
    if (context.comparing?.repair === true) context.comparing.take(compared);
    throw thrown;
  } finally {
    for (const cleanup of cleanups) cleanup();
  }
}

/** Prepares all loads, so that the transaction only runs SQL. */
async function readyBatches(
  { loads, fullRefresh }: SliceResult,
  batches: Batches,
  isDivisible: () => boolean,
): Promise<Batch[]> {
  const prepared: Prepared[] = [];
  for (const load of loads) {
    if ('encoded' in load) {
      prepared.push(load);
      continue;
    }
    recordLimit(isDivisible, MOST_UNCUT)(load.records.length);
    prepared.push(await batches.prepare(load, { fullRefresh }));
  }
  return batches.finish(prepared);
}

interface Loading {
  job: Pull;
  context: RunContext;
  slice: Slice;
  /** When the reading started. */
  readAt: string;
}

async function commit(result: SliceResult, batches: readonly Batch[], loading: Loading): Promise<void> {
  const { job, context } = loading;
  const tables = job.into.map(([, table]) => table.name);
  const load = storing(result, batches, loading);
  addCounts(context.counts, await context.dependencies.engine.write(load, { isLong: true, tables }));
  context.dependencies.onSlice?.();
}

/** Compares the slice with the warehouse. To repair, it is committed if it differs or has a record that does not fit. */
async function compareOrRepair(
  result: SliceResult,
  batches: readonly Batch[],
  loading: Loading,
): Promise<Comparison[]> {
  const { counts, comparing, dependencies } = loading.context;
  const found = await compareBatches(dependencies.engine, batches, storing(result, batches, loading));
  const differs = found.some((each) => each.differing + each.missingHere + each.missingThere > 0);
  const invalid = batches.reduce((sum, batch) => sum + batch.invalid.length, 0);
  if ((differs || invalid > 0) && comparing?.repair === true) await commit(result, batches, loading);
  else {
    // What differs in a day that runs still read is stored by the next of them.
    const tables = batches.map(({ table }) => table.name);
    if (differs) await forgetKnownRows(dependencies.engine, tables);
    const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
    counts.records += rows + invalid;
    counts.unchanged += rows;
    counts.quarantined += invalid;
  }
  return found;
}

function storing(result: SliceResult, batches: readonly Batch[], { context, slice, readAt }: Loading) {
  const { dependencies, runId } = context;
  const invalid = quarantineRows(
    context.job,
    batches.flatMap((batch) => batch.invalid),
    dependencies.redactor,
  );
  return async (tx: Transaction): Promise<RunCounts> => {
    await rejectOtherPolicies(tx, dependencies.privacy);
    // A comparison without repair stores the same and is rolled back.
    const isRepair = context.comparing !== undefined;
    // Take the time inside the transaction: rows that others stored while this one waited must not count as newer.
    const metadata = { runId, at: isoInstant(dependencies.clock.now()), readAt, isRepair };
    const filled = await filledRanges(tx, result.fullRefresh ?? []);
    const counts = await loadBatches(tx, batches, metadata, dependencies.redactor);
    await quarantine(tx, invalid, metadata);
    const vanished = await markAllVanished(tx, filled, batches, metadata);
    if (isRepair && vanished > 0) await makeDue(tx, slice.covers ?? [], context);
    const coverage = writtenCoverage(context);
    if (coverage !== undefined) {
      const by = { job: coverage, runId, at: readAt };
      const covered = result.covered ?? untilRead(slice.covers ?? [], readAt);
      for (const each of covered) await markCovered(tx, each, by);
      for (const each of result.invalidated ?? []) await invalidate(tx, each, by);
    }
    return counts;
  };
}

/** Makes the periods due once more: a service that left out records by mistake would otherwise hide them for good. */
async function makeDue(tx: Transaction, covers: readonly ScopedInterval[], { job }: RunContext): Promise<void> {
  // A listing is read by every run.
  for (const period of covers.filter((each) => each.endAt !== UNTIL_READ)) {
    for (const [scope, covered] of await coveredBounds(tx, job, period.scopes)) {
      const [asked, allowed] = [spanOf(period), withoutEnds(spanOf(covered))];
      const [begin, end] = [Math.max(asked.begin, allowed.begin), Math.min(asked.end, allowed.end)];
      if (begin < end) await invalidate(tx, { scopes: [scope], ...intervalOf({ begin, end }) }, { job });
    }
  }
}

async function loadBatches(
  tx: Transaction,
  batches: readonly Batch[],
  metadata: LoadMetadata,
  { redact }: Redactor,
): Promise<RunCounts> {
  const counts = zeroCounts();
  for (const { table, encoded, rows, invalid, superseded, keyTexts } of batches) {
    const { inserted, updated, unchanged } = await tx.loadEncoded(table, encoded, metadata);
    await release(tx, table, keyTexts, { readAt: metadata.readAt, redact });
    counts.records += rows + invalid.length + superseded;
    counts.inserted += inserted;
    counts.updated += updated;
    counts.unchanged += unchanged + superseded;
    counts.quarantined += invalid.length;
  }
  return counts;
}

/** The full-refresh ranges that hold a row before the load. In an empty range nothing can have vanished. */
async function filledRanges(tx: Transaction, ranges: readonly FullRefreshRange[]): Promise<FullRefreshRange[]> {
  const filled: FullRefreshRange[] = [];
  for (const each of ranges) if (await tx.hasPresent(each.table, each.range)) filled.push(each);
  return filled;
}

async function markAllVanished(
  tx: Transaction,
  ranges: readonly FullRefreshRange[],
  batches: readonly Batch[],
  metadata: LoadMetadata,
): Promise<number> {
  let marked = 0;
  for (const refresh of ranges) {
    const part = batches.find((each) => each.table === refresh.table);
    if (part?.allSeen === false && refresh.isSure !== true) continue;
    marked += await markRange(tx, refresh, batches, metadata);
  }
  return marked;
}

/**
 * Marks vanished rows with their child rows, such as the executions of a point: no answer lists those any more. Returns how
 * many rows vanished, without child rows.
 */
async function markRange(
  tx: Transaction,
  refresh: FullRefreshRange,
  batches: readonly Batch[],
  metadata: LoadMetadata,
): Promise<number> {
  const { table, range } = refresh;
  const batch = batches.find((each) => each.table === table);
  const keys = () => batch?.seen() ?? [];
  const inside = batch?.inside(refresh) ?? 0;
  const marked = await markVanished(tx, { table, range }, { inside, keys }, metadata);
  const owned = batches.flatMap((part) => (part.table.parent?.table === table.name ? [part.table] : []));
  if (marked === 0 || owned.length === 0) return marked;
  const owners = await justMarked(tx, { table, range }, metadata);
  for (const part of owned) {
    const column = part.parent?.column ?? '';
    await markRange(tx, { table: part, range: { [column]: { in: owners } } }, batches, metadata);
  }
  return marked;
}
