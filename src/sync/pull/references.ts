// Facts may name a vehicle or a driver that is not in the warehouse yet. They are loaded all the same; this tells
// which dimension's pull should follow. One that was pulled a short while ago, or since a label is known to be
// nobody's, is left alone: what it did not bring then it will not bring now.
import { isoInstant } from '../../core/clock.ts';
import type { Row } from '../../warehouse/engine.ts';
import { recordColumns, type Table } from '../../warehouse/table.ts';
import type { SliceFacts, UnknownName } from '../slice.ts';
import type { SyncParts } from '../sync-parts.ts';
import type { AnyPull } from './types.ts';

const LEAST_BETWEEN_MS = 3_600_000;
const IDS_A_QUERY = 500;

export interface DimensionCheck {
  /** Takes note of what a slice named. */
  note(facts: Named): void;
  /** Jobs that would bring what was named and is not there. */
  unmet(): Promise<string[]>;
}

/** Ids in the order of the job's mentions, and labels that nothing has. */
type Named = Pick<SliceFacts, 'named' | 'unknown'>;

export function createDimensionCheck({ mentions = [] }: AnyPull, parts: SyncParts): DimensionCheck {
  const all = mentions.map((mention) => ({ mention, ids: new Set<number>() }));
  const unknowns: UnknownName[] = [];
  return {
    note({ named, unknown = [] }) {
      for (const [index, { ids }] of all.entries()) for (const id of named[index] ?? []) ids.add(id);
      unknowns.push(...unknown);
    },
    async unmet() {
      const wanted = new Set<string>();
      const lately = isoInstant(parts.clock.now() - LEAST_BETWEEN_MS);
      for (const { mention, ids } of all) {
        const { dimension, job } = mention;
        if (wanted.has(job) || (await knowsAll(dimension, [...ids], parts))) continue;
        if (!(await wasPulledSince(lately, job, parts))) wanted.add(job);
      }
      for (const { job, metAt } of unknowns) {
        const since = metAt < lately ? metAt : lately;
        if (!wanted.has(job) && !(await wasPulledSince(since, job, parts))) wanted.add(job);
      }
      return [...wanted];
    },
  };
}

export type NamesInSlice = ReturnType<typeof namesIn>;

/** What the records of one slice name, each id once. */
export function namesIn({ mentions = [] }: AnyPull) {
  const all = mentions.map((mention) => ({ mention, ids: new Set<number>() }));
  let unknown: UnknownName[] = [];
  return {
    /** Takes note of the ids in a row of the table; undefined where no column of it names any. */
    references(table: Table): ((row: Row) => void) | undefined {
      const own = all
        .filter(({ mention }) => mention.table === table)
        .map(({ mention, ids }) => ({ ids, position: positionOf(table, mention.column) }));
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
    found: (): Named => ({ named: all.map(({ ids }) => [...ids]), unknown }),
  };
}

const positionOf = (table: Table, column: string): number =>
  recordColumns(table).findIndex(({ name }) => name === column);

async function knowsAll(dimension: Table, ids: number[], { engine }: SyncParts): Promise<boolean> {
  for (let start = 0; start < ids.length; start += IDS_A_QUERY) {
    const part = ids.slice(start, start + IDS_A_QUERY);
    const [row] = await engine.read((sql) => sql(dimension.name).whereIn('id', part).count({ known: '*' }));
    if (Number(row?.known) < part.length) return false;
  }
  return true;
}

async function wasPulledSince(since: string, job: string, { engine }: SyncParts): Promise<boolean> {
  const run = await engine.read((sql) =>
    sql('sync_run')
      .where({ job })
      .whereIn('status', ['ok', 'partial', 'running'])
      .where('started_at', '>=', since)
      .first('run_id'),
  );
  return run !== undefined;
}
