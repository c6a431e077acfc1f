// Orders to the daemons through the warehouse, so that any process can give them: pause, resume, run now. They
// outlive the daemon; a run that was asked for is taken exactly once.
import type { Engine } from '../engine.ts';
import { boolean, controlTable, instant, text } from '../schema/table.ts';

export const syncControl = controlTable({
  name: 'sync_control',
  meaning: 'Orders to the daemons: which jobs are paused, which are to run now.',
  key: ['job'],
  columns: {
    job: text('Name of the job.'),
    paused: boolean('It misses its ticks until it is resumed.', { required: true }),
    paused_at: instant('Since when; null while it is not paused.'),
    run_requested_at: instant('When a run was asked for that no daemon has begun yet; null where none is.'),
    requested_by: text('Who asked for it.'),
    ordered_at: instant('When the last order was given.', { required: true }),
  },
});

export interface JobControl {
  paused: boolean;
  pausedAt: string | null;
  runRequestedAt: string | null;
}

/** The order row of a job that nobody has given orders for. */
const NO_ORDERS = { paused: false, paused_at: null, run_requested_at: null, requested_by: null };

type ControlRow = Record<'paused_at' | 'run_requested_at' | 'requested_by', string | null> & {
  paused: boolean;
};

/** From then on the job misses its ticks; a run that is under way goes on. Pausing twice keeps the first instant. */
export const pauseJob = (engine: Engine, job: string, at: string): Promise<void> =>
  order(engine, job, at, ({ paused, paused_at }) => ({ paused: true, paused_at: paused ? paused_at : at }));

/** What it missed meanwhile is caught up once. */
export const resumeJob = (engine: Engine, job: string, at: string): Promise<void> =>
  order(engine, job, at, () => ({ paused: false, paused_at: null }));

/** A daemon begins the run within seconds, or when one starts; asked for twice before that, it is one run. */
export const requestRun = (
  engine: Engine,
  job: string,
  at: string,
  by: string | null = null,
): Promise<void> => order(engine, job, at, () => ({ run_requested_at: at, requested_by: by }));

/** True for the one caller that gets to make the run. */
export const takeRunRequest = (engine: Engine, job: string): Promise<boolean> =>
  engine.write(async ({ sql }) => {
    const taken = await sql('sync_control')
      .where({ job })
      .whereNotNull('run_requested_at')
      .update({ run_requested_at: null, requested_by: null });
    return taken > 0;
  });

/** The jobs that orders were given for; one that is not in the map has none. */
export const readControls = (engine: Engine): Promise<Map<string, JobControl>> =>
  engine.read(async (sql) => {
    const rows: (ControlRow & { job: string })[] = await sql('sync_control');
    return new Map(
      rows.map(({ job, paused, paused_at, run_requested_at }) => [
        job,
        { paused: Boolean(paused), pausedAt: paused_at, runRequestedAt: run_requested_at },
      ]),
    );
  });

const order = (
  engine: Engine,
  job: string,
  at: string,
  change: (known: ControlRow) => Partial<ControlRow>,
): Promise<void> =>
  engine.write(async ({ sql }) => {
    const known: ControlRow | undefined = await sql('sync_control').where({ job }).first();
    const changed = { ...change(known ?? NO_ORDERS), ordered_at: at };
    if (known === undefined) await sql('sync_control').insert({ job, ...NO_ORDERS, ...changed });
    else await sql('sync_control').where({ job }).update(changed);
  });
