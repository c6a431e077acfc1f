// How fresh a table is: as fresh as the reading of its stalest scope, never as its newest row.
import type { Engine } from './engine.ts';

export interface TableFreshness {
  rows: number;
  /** When any row last changed. */
  lastChangeAt: string | null;
  /** When the scope that waits longest was last read; null where nothing was read yet. */
  coveredAt: string | null;
}

export const tableFreshness = (
  engine: Engine,
  table: string,
  jobs: readonly string[],
): Promise<TableFreshness> =>
  engine.read(async (sql) => {
    const [counted] = await sql(table).count({ rows: '*' }).max({ changed: '_changed_at' });
    const scopes = sql('sync_coverage')
      .whereIn('job', [...jobs])
      .groupBy('job', 'scope')
      .max({ read: 'covered_at' });
    const [stalest] = await sql.from(scopes.as('scopes')).min({ read: 'read' });
    return {
      rows: Number(counted?.rows ?? 0),
      lastChangeAt: counted?.changed ?? null,
      coveredAt: stalest?.read ?? null,
    };
  });
