// How fresh a table is: as fresh as the reading of its stalest scope, never as its newest row.
import type { Engine } from './engine.ts';

export interface Filler {
  job: string;
  /** The scopes that the job reads now; those of former settings say nothing. */
  tracks(scope: string): boolean;
}

export interface TableFreshness {
  /** When a run last changed anything in it. */
  lastChangeAt: string | null;
  /** When the scope that waits longest was last read; null where nothing was read yet. */
  coveredAt: string | null;
}

export const tableFreshness = (
  engine: Pick<Engine, 'read'>,
  fillers: readonly Filler[],
): Promise<TableFreshness> =>
  engine.read(async (sql) => {
    const jobs = fillers.map(({ job }) => job);
    const scopes: { job: string; scope: string; read: string }[] = await sql('sync_coverage')
      .whereIn('job', jobs)
      .groupBy('job', 'scope')
      .select('job', 'scope', sql.raw('max(covered_at) as read'));
    const tracked = scopes.filter(({ job, scope }) =>
      fillers.some((filler) => filler.job === job && filler.tracks(scope)),
    );
    const changed = await sql('sync_run')
      .whereIn('job', jobs)
      .whereRaw('inserted + updated > 0')
      .orderBy('started_at', 'desc')
      .first('finished_at');
    return {
      lastChangeAt: changed?.finished_at ?? null,
      coveredAt: tracked.map(({ read }) => read).toSorted()[0] ?? null,
    };
  });
