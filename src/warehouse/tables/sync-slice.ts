// How the slices of a run ended that several processes work on, for the process that planned it. Written in the
// transaction of the slice's rows; gone when the run has ended.
import { controlTable, integer, json, text } from '../table.ts';

export const syncSlice = controlTable({
  name: 'sync_slice',
  meaning: 'How the slices of runs under way ended, where several daemons share them.',
  key: ['run_id', 'position'],
  columns: {
    run_id: text('The run.'),
    position: integer('The how manieth of the run to end, from 1.'),
    slice_id: text('The slice in the queue.', { required: true }),
    outcome: json('How it ended: counts, failure, parts.', { required: true }),
  },
});
