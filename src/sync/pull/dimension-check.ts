// Facts may name a vehicle or a driver that is not in the warehouse yet. They are loaded all the same; this tells
// which dimension's pull should follow. One that was pulled a short while ago is left alone: what it did not
// bring then it will not bring now.
import { isoInstant } from '../../core/clock.ts';
import type { Row } from '../../warehouse/engine.ts';
import { recordColumns, type Table } from '../../warehouse/table.ts';
import type { SyncParts } from '../sync-parts.ts';
import type { AnyPull } from './pull-job.ts';

const LEAST_BETWEEN_MS = 3_600_000;
const IDS_A_QUERY = 500;

export interface DimensionCheck {
  /** Takes note of what a slice named, in the order of the job's mentions. */
  note(named: readonly (readonly number[])[]): void;
  /** Jobs that would bring what was named and is not there. */
  unmet(): Promise<string[]>;
}

export function createDimensionCheck({ mentions = [] }: AnyPull, parts: SyncParts): DimensionCheck {
  const all = mentions.map((mention) => ({ mention, ids: new Set<number>() }));
  return {
    note(named) {
      for (const [index, { ids }] of all.entries()) for (const id of named[index] ?? []) ids.add(id);
    },
    async unmet() {
      const wanted = new Set<string>();
      for (const { mention, ids } of all) {
        const { dimension, job } = mention;
        if (wanted.has(job) || (await knowsAll(dimension, [...ids], parts))) continue;
        if (!(await pulledLately(job, parts))) wanted.add(job);
      }
      return [...wanted];
    },
  };
}

/** What the rows of one slice name, each id once. */
export function namesIn({ mentions = [] }: AnyPull) {
  const all = mentions.map((mention) => ({ mention, ids: new Set<number>() }));
  return {
    note(table: Table, rows: readonly Row[]): void {
      for (const { mention, ids } of all) {
        if (mention.table !== table) continue;
        const position = recordColumns(table).findIndex(({ name }) => name === mention.column);
        for (const row of rows) if (typeof row[position] === 'number') ids.add(row[position]);
      }
    },
    found: (): number[][] => all.map(({ ids }) => [...ids]),
  };
}

async function knowsAll(dimension: Table, ids: number[], { engine }: SyncParts): Promise<boolean> {
  for (let start = 0; start < ids.length; start += IDS_A_QUERY) {
    const part = ids.slice(start, start + IDS_A_QUERY);
    const [row] = await engine.read((sql) => sql(dimension.name).whereIn('id', part).count({ known: '*' }));
    if (Number(row?.known) < part.length) return false;
  }
  return true;
}

async function pulledLately(job: string, { engine, clock }: SyncParts): Promise<boolean> {
  const since = isoInstant(clock.now() - LEAST_BETWEEN_MS);
  const run = await engine.read((sql) =>
    sql('sync_run')
      .where({ job })
      .whereIn('status', ['ok', 'partial', 'running'])
      .where('started_at', '>', since)
      .first('run_id'),
  );
  return run !== undefined;
}
