// How slices ended, as rows that the process which planned the run reads in their order. The writers of all
// processes take turns, so the positions of a run have no gaps and none comes late.
import type { Knex } from 'knex';
import type { Engine } from './engine.ts';

export interface ToldSlice {
  position: number;
  slice_id: string;
  outcome: unknown;
}

const TABLE = 'sync_slice';

/** In the transaction of the slice's rows. */
export async function tellSlice(sql: Knex, runId: string, sliceId: string, outcome: unknown): Promise<void> {
  const last = await sql(TABLE).where({ run_id: runId }).max({ position: 'position' }).first();
  await sql(TABLE).insert({
    run_id: runId,
    position: Number(last?.position ?? 0) + 1,
    slice_id: sliceId,
    outcome: JSON.stringify(outcome),
  });
}

/** Those after a position, in their order. */
export const toldSlices = (engine: Engine, runId: string, after: number): Promise<ToldSlice[]> =>
  engine.read(async (sql) => {
    const rows = await sql(TABLE)
      .where({ run_id: runId })
      .where('position', '>', after)
      .orderBy('position')
      .select('position', 'slice_id', 'outcome');
    return rows.map((row) => ({ ...row, position: Number(row.position), outcome: JSON.parse(row.outcome) }));
  });

/** Those of the run, which has read them, and of runs whose process died before it did. */
export const forgetSlices = (engine: Engine, runId: string): Promise<unknown> =>
  engine.write(({ sql }) =>
    sql(TABLE)
      .where({ run_id: runId })
      .orWhereNotIn('run_id', sql('sync_run').where({ status: 'running' }).select('run_id'))
      .delete(),
  );
