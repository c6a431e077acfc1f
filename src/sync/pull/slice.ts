// One slice: read, check, map, then commit rows, quarantine and coverage together. A crash at any instant
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
import { writtenCoverage } from './backfill-progress.ts';
import type { AnyPull, Harvest, Slice, Source, Whole } from './pull-job.ts';
import { byTable, type Distinct, type Sorted, sortRecords } from './sorting.ts';

export interface SliceCounts {
  records: number;
  inserted: number;
  updated: number;
  unchanged: number;
  quarantined: number;
}

/** Readings of a slice that another run overtakes each time, before it is left to the next run. */
const READINGS = 3;

type Note = (harvest: Harvest, sorted: readonly Sorted[]) => void;
/** The last word in the transaction. */
type Seal = (tx: Transaction, counts: SliceCounts) => Promise<void> | undefined;

export async function pullSlice(
  job: AnyPull,
  slice: Slice,
  context: RunContext,
  note: Note,
  seal: Seal,
): Promise<SliceCounts> {
  for (let reading = 1; ; reading++) {
    const atEnd: (() => void)[] = [];
    try {
      return await readAndLoad(job, slice, sourceOf(context, atEnd), context, note, seal);
    } catch (thrown) {
      if (!(thrown instanceof Overtaken) || reading === READINGS) throw thrown;
      context.log.info({ scope: slice.scope, err: thrown }, 'slice overtaken, read again');
    } finally {
      for (const work of atEnd) work();
    }
  }
}

async function readAndLoad(
  job: AnyPull,
  slice: Slice,
  source: Source,
  context: RunContext,
  note: Note,
  seal: Seal,
): Promise<SliceCounts> {
  const { parts, runId, log } = context;
  log.debug({ scope: slice.scope }, 'slice begun');
  const harvest = await job.read(slice, source, context.options);
  const sorted: Sorted[] = [];
  for (const load of harvest.loads) sorted.push('rows' in load ? load : await source.sort(load));
  log.debug({ scope: slice.scope }, 'slice read');
  note(harvest, sorted);
  const distinct = byTable(sorted);
  const invalid = quarantineRows(
    context.job,
    distinct.flatMap(({ misfits }) => misfits),
    parts.redactor,
  );
  const load = async (tx: Transaction): Promise<SliceCounts> => {
    // Once it is its turn: what others stored while it waited for that was not stored later.
    const stamp = { runId, at: isoInstant(parts.clock.now()), readAt: source.readAt };
    const counts = { records: 0, inserted: 0, updated: 0, unchanged: 0, quarantined: 0 };
    for (const part of distinct) {
      const { inserted, updated, unchanged } = await tx.load(part.table, part.rows, stamp);
      await release(tx, part.table.name, part.keyTexts);
      counts.records += part.rows.length + part.misfits.length + part.superseded;
      counts.inserted += inserted;
      counts.updated += updated;
      counts.unchanged += unchanged + part.superseded;
      counts.quarantined += part.misfits.length;
    }
    await quarantine(tx, invalid, stamp);
    await markAllVanished(tx, harvest, distinct, stamp);
    const job = writtenCoverage(context);
    if (job !== undefined) {
      const by = { job, runId, at: source.readAt };
      for (const covers of harvest.covers) await cover(tx, covers, by);
      for (const gone of harvest.uncovers ?? []) await uncover(tx, gone, by);
    }
    await seal(tx, counts);
    return counts;
  };
  const loaded = await parts.engine.write(load, { isLong: true });
  parts.onSlice?.();
  return loaded;
}

const sourceOf = ({ parts, counts, signal, period }: RunContext, atEnd: (() => void)[]): Source => ({
  call: (endpoint, request) =>
    parts.fleet.call(endpoint, request, {
      signal,
      priority: period?.resumable === true ? PRIORITY.history : PRIORITY.live,
      onRequest: () => {
        counts.requests++;
      },
      onRetry: () => {
        counts.retries++;
      },
    }),
  sort: (load) => sortRecords(load, parts.privacy),
  asStored: parts.privacy.asStored,
  warehouse: parts.engine,
  recall: (name) => factMemory<never>(parts.engine, name).read(),
  remember: (name, fact) => factMemory<typeof fact>(parts.engine, name).write(fact, parts.clock.now()),
  atEnd: (work) => void atEnd.push(work),
  urlBytes: parts.fleet.urlBytes,
  readAt: isoInstant(parts.clock.now()),
  images: parts.images,
  timezone: parts.timezone,
});

async function markAllVanished(tx: Transaction, harvest: Harvest, parts: readonly Distinct[], stamp: Stamp) {
  for (const whole of harvest.whole ?? []) {
    const part = parts.find((each) => each.table === whole.table);
    if (part?.allSeen === false && whole.isSure !== true) continue;
    await markWhole(tx, whole, parts, stamp);
  }
}

/** What vanishes takes with it what is part of it, such as the executions of a point: no answer speaks of those. */
async function markWhole(tx: Transaction, whole: Whole, parts: readonly Distinct[], stamp: Stamp) {
  const { table, extent, alsoSeen = [] } = whole;
  const met = parts.find((each) => each.table === table);
  const keys = () => [...(met?.seen() ?? []), ...alsoSeen];
  const marked = await markVanished(tx, { table, extent }, { rows: met?.rows ?? [], keys }, stamp);
  const owned = parts.flatMap((part) => (part.table.partOf?.table === table.name ? [part.table] : []));
  if (marked === 0 || owned.length === 0) return;
  const owners = await justMarked(tx, { table, extent }, stamp);
  for (const part of owned) {
    const column = part.partOf?.column ?? '';
    await markWhole(tx, { table: part, extent: { [column]: { in: owners } } }, parts, stamp);
  }
}
