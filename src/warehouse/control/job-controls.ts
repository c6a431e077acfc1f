// Actions on jobs (pause, resume, run now), stored in the warehouse so that any process can request them. They survive
// a restart of the daemon. Exactly one daemon takes a requested run.
import type { Engine } from '../engine.ts';
import { boolean, controlTable, instant, text } from '../schema/table.ts';

export const syncControl = controlTable({
  name: 'sync_control',
  meaning: 'Actions for the daemons: which jobs are paused, which have to run now.',
  key: ['job'],
  columns: {
    job: text('Name of the job.'),
    paused: boolean('True while the job skips its scheduled runs.', { required: true }),
    paused_at: instant('Since when the job is paused; null if it is not.'),
    run_requested_at: instant('When a run was requested that no daemon has begun yet; null if there is none.'),
    requested_by: text('Who requested the run.'),
    ordered_at: instant('When the last action was requested.', { required: true }),
  },
});

export interface JobControl {
  paused: boolean;
  pausedAt: string | null;
  runRequestedAt: string | null;
}

/** The row of a job without any action. */
const NO_ACTIONS = { paused: false, paused_at: null, run_requested_at: null, requested_by: null };

type ControlRow = Record<'paused_at' | 'run_requested_at' | 'requested_by', string | null> & { paused: boolean };

/** The job skips its scheduled runs from `at` on; a run under way continues. Pausing twice keeps the first instant. */
export const pauseJob = (engine: Engine, job: string, at: string): Promise<void> =>
  update(engine, job, at, ({ paused, paused_at }) => ({ paused: true, paused_at: paused ? paused_at : at }));

/** One catch-up run covers all scheduled runs that the job skipped. */
export const resumeJob = (engine: Engine, job: string, at: string): Promise<void> =>
  update(engine, job, at, () => ({ paused: false, paused_at: null }));

/** A daemon begins the run within seconds, or when it next starts. Two requests before that make one run. */
export const requestRun = (engine: Engine, job: string, at: string, by: string | null = null): Promise<void> =>
  update(engine, job, at, () => ({ run_requested_at: at, requested_by: by }));

/** True for exactly one caller, which has to make the run. */
export const takeRunRequest = (engine: Engine, job: string): Promise<boolean> =>
  engine.write(async ({ sql }) => {
    const taken = await sql('sync_control')
      .where({ job })
      .whereNotNull('run_requested_at')
      .update({ run_requested_at: null, requested_by: null });
    return taken > 0;
  });

/** By job. A job without any action is not in the map. */
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

const update = (
  engine: Engine,
  job: string,
  at: string,
  change: (known: ControlRow) => Partial<ControlRow>,
): Promise<void> =>
  engine.write(async ({ sql }) => {
    const known: ControlRow | undefined = await sql('sync_control').where({ job }).first();
    const changed = { ...change(known ?? NO_ACTIONS), ordered_at: at };
    await sql('sync_control')
      .insert({ job, ...NO_ACTIONS, ...changed })
      .onConflict('job')
      .merge(changed);
  });
