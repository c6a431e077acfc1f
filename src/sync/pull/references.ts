// Facts may reference a vehicle or a driver that is not in the warehouse yet. The facts are loaded anyway, and the pull of
// the missing dimension runs next. A pull that ran recently, or after an unknown label was first seen, is not repeated: it
// did not bring the row then, so it will not bring it now.
import { chunks } from '../../core/chunks.ts';
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine, Row } from '../../warehouse/engine.ts';
import type { Table } from '../../warehouse/schema/table.ts';
import type { SyncDependencies } from '../dependencies.ts';
import type { Pull, UnknownLabels } from './types.ts';

const MIN_BETWEEN_PULLS_MS = 3_600_000;
const IDS_PER_QUERY = 500;

export type SliceReferences = ReturnType<typeof referencesInSlice>;

/** Collects the references of one slice's records, each id once. */
export function referencesInSlice({ references }: Pull) {
  const all = references.map((reference) => ({ ...reference, ids: new Set<number>() }));
  let unknown: UnknownLabels | undefined;
  return {
    /** Collects the ids in a row of the table; undefined if no column of the table is a reference. */
    noteIn(table: Table): ((row: Row) => void) | undefined {
      const own = all.filter((reference) => reference.table === table);
      if (own.length === 0) return undefined;
      return (row) => {
        for (const { ids, position } of own) {
          const id = row[position];
          if (typeof id === 'number') ids.add(id);
        }
      };
    },
    noteUnknown(labels: UnknownLabels | undefined): void {
      unknown = labels;
    },
    /** The jobs that pull referenced rows which the warehouse does not have. */
    async missingJobs({ engine, clock }: SyncDependencies): Promise<string[]> {
      const recentFrom = isoInstant(clock.now() - MIN_BETWEEN_PULLS_MS);
      const wanted = new Set<string>();
      for (const { to, job, ids } of all) {
        if ((await knowsAll(to, [...ids], engine)) || (await wasPulledSince(recentFrom, job, engine))) continue;
        wanted.add(job);
      }
      if (unknown !== undefined) {
        const since = unknown.metAt < recentFrom ? unknown.metAt : recentFrom;
        if (!(await wasPulledSince(since, unknown.job, engine))) wanted.add(unknown.job);
      }
      return [...wanted];
    },
  };
}

async function knowsAll(table: Table, ids: number[], engine: Engine): Promise<boolean> {
  for (const part of chunks(ids, IDS_PER_QUERY)) {
    const [row] = await engine.read((sql) => sql(table.name).whereIn('id', part).count({ known: '*' }));
    if (Number(row?.known) < part.length) return false;
  }
  return true;
}

async function wasPulledSince(since: string, job: string, engine: Engine): Promise<boolean> {
  const run = await engine.read((sql) =>
    sql('sync_run')
      .where({ job })
      .whereIn('status', ['ok', 'partial', 'running'])
      .where('started_at', '>=', since)
      .first('run_id'),
  );
  return run !== undefined;
}
