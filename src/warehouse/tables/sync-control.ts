// One row a job that was ever paused or asked for: orders from any process to the daemons.
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
