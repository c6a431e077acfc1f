// One run of upkeep: deletes rows past their retention, then checks the warehouse for damage.

import { Fatal } from '../core/errors.ts';
import { localDate, periodOf } from '../core/time/local-days.ts';
import { agingTables, countOutdated, deleteOutdated } from '../warehouse/retention.ts';
import type { Preview, RunContext, RunOutcome } from './job.ts';
import { stoppedEarly } from './run.ts';

type UpkeepContext = Pick<RunContext, 'options' | 'dependencies'>;

/** The tables whose rows are deleted if they are from `before` that instant: the start of a local day, so that none is cut. */
function limits({ options, dependencies }: UpkeepContext) {
  // Longest age of rows in ms, by table.
  const retention = options.retention as Readonly<Record<string, number>>;
  return agingTables.flatMap((table) => {
    const longest = retention[table.name];
    if (longest === undefined) return [];
    const day = localDate(dependencies.clock.now() - longest, dependencies.timezone);
    return [{ table, before: periodOf(day, dependencies.timezone).from }];
  });
}

export async function executeUpkeep(context: RunContext): Promise<RunOutcome> {
  const { dependencies, counts, log, signal } = context;
  const isStopped = () => signal.aborted || context.draining?.aborted === true;
  for (const { table, before } of limits(context)) {
    for (const { table: name, rows } of await deleteOutdated(dependencies.engine, table, before, isStopped)) {
      counts.records += rows;
      counts.updated += rows;
      log.info({ table: name, rows, before }, 'old rows deleted');
    }
    counts.slices++;
  }
  if (isStopped())
    return { failures: [stoppedEarly('The next run deletes the rest and checks for damage.')], worked: true };
  const damage = await dependencies.engine.upkeep();
  return { failures: damage.length === 0 ? [] : [damaged(damage)], worked: true };
}

export async function previewUpkeep(context: UpkeepContext): Promise<Preview[]> {
  const { engine } = context.dependencies;
  return Promise.all(
    limits(context).map(async ({ table, before }) => ({
      what: table.name,
      detail: { before, rows: await countOutdated(engine, table, before) },
      calls: 0,
    })),
  );
}

const damaged = ([first]: readonly string[]): Fatal =>
  new Fatal(`The warehouse is damaged: ${first}`, {
    code: 'warehouse_damaged',
    hint: 'Stop the daemon, keep the file, and restore the last backup.',
  });
