// Facts may name a vehicle or a driver that is not in the warehouse yet. They are loaded all the same; this tells
// which dimension's pull should follow. One that was pulled a short while ago is left alone: what it did not
// bring then it will not bring now.
import { isoInstant } from '../../core/clock.ts';
import type { RunContext } from '../job.ts';
import type { AnyPull } from './pull-job.ts';

const LEAST_BETWEEN_MS = 3_600_000;

export async function unmetDimensions(job: AnyPull, { parts, runId, counts }: RunContext): Promise<string[]> {
  if (counts.inserted + counts.updated === 0) return [];
  const wanted = new Set<string>();
  for (const { table, column, dimension, job: puller } of job.mentions ?? []) {
    if (wanted.has(puller)) continue;
    const unmet = await parts.engine.read((sql) =>
      sql(table.name)
        .where({ _run_id: runId })
        .whereNotNull(column)
        .whereNotIn(column, sql(dimension.name).select('id'))
        .first(column),
    );
    if (unmet !== undefined && !(await pulledLately(puller, parts))) wanted.add(puller);
  }
  return [...wanted];
}

async function pulledLately(job: string, { engine, clock }: RunContext['parts']): Promise<boolean> {
  const since = isoInstant(clock.now() - LEAST_BETWEEN_MS);
  const run = await engine.read((sql) =>
    sql('sync_run').where({ job }).where('started_at', '>', since).first('run_id'),
  );
  return run !== undefined;
}
