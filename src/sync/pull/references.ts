// Facts may reference a vehicle or a driver that is not in the warehouse yet. The facts are loaded anyway, and the pull of
// the missing dimension runs next. A pull that ran recently, or after an unknown label was first seen, is not repeated: it
// did not bring the row then, so it will not bring it now.
import { isoInstant } from '../../core/time/clock.ts';
import type { Row } from '../../warehouse/engine.ts';
import type { Table } from '../../warehouse/schema/table.ts';
import type { SyncDependencies } from '../dependencies.ts';
import type { SliceFacts, UnknownName } from '../slice.ts';
import type { Pull } from './types.ts';

const MIN_BETWEEN_PULLS_MS = 3_600_000;
const IDS_PER_QUERY = 500;

export interface ReferenceCheck {
  /** Collects the references of a slice. */
  note(facts: Referenced): void;
  /** The jobs that pull referenced rows which the warehouse does not have. */
  missingJobs(): Promise<string[]>;
}

/** Ids in the order of the job's references, and labels that no row has. */
type Referenced = Pick<SliceFacts, 'named' | 'unknown'>;

export function createReferenceCheck({ references }: Pull, dependencies: SyncDependencies): ReferenceCheck {
  const all = references.map((reference) => ({ reference, ids: new Set<number>() }));
  const unknowns: UnknownName[] = [];
  return {
    note({ named, unknown = [] }) {
      for (const [index, { ids }] of all.entries()) for (const id of named[index] ?? []) ids.add(id);
      unknowns.push(...unknown);
    },
    async missingJobs() {
      const wanted = new Set<string>();
      const recentFrom = isoInstant(dependencies.clock.now() - MIN_BETWEEN_PULLS_MS);
      for (const { reference, ids } of all) {
        const { to, job } = reference;
        if (wanted.has(job) || (await knowsAll(to, [...ids], dependencies))) continue;
        if (!(await wasPulledSince(recentFrom, job, dependencies))) wanted.add(job);
      }
      for (const { job, metAt } of unknowns) {
        const since = metAt < recentFrom ? metAt : recentFrom;
        if (!wanted.has(job) && !(await wasPulledSince(since, job, dependencies))) wanted.add(job);
      }
      return [...wanted];
    },
  };
}

export type SliceReferences = ReturnType<typeof referencesInSlice>;

/** Collects the references of one slice's records, each id once. */
export function referencesInSlice({ references }: Pull) {
  const all = references.map((reference) => ({ ...reference, ids: new Set<number>() }));
  let unknown: UnknownName[] = [];
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
    noteUnknown(names: readonly UnknownName[]): void {
      unknown = [...names];
    },
    found: (): Referenced => ({ named: all.map(({ ids }) => [...ids]), unknown }),
  };
}

async function knowsAll(table: Table, ids: number[], { engine }: SyncDependencies): Promise<boolean> {
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const part = ids.slice(start, start + IDS_PER_QUERY);
    const [row] = await engine.read((sql) => sql(table.name).whereIn('id', part).count({ known: '*' }));
    if (Number(row?.known) < part.length) return false;
  }
  return true;
}

async function wasPulledSince(since: string, job: string, { engine }: SyncDependencies): Promise<boolean> {
  const run = await engine.read((sql) =>
    sql('sync_run')
      .where({ job })
      .whereIn('status', ['ok', 'partial', 'running'])
      .where('started_at', '>=', since)
      .first('run_id'),
  );
  return run !== undefined;
}
