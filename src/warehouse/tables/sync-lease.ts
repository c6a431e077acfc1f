// One row a job: which process may run it. The token grows with every change of hands; a write that shows an older
// one is refused.
import { controlTable, instant, integer, text } from '../table.ts';

export const syncLease = controlTable({
  name: 'sync_lease',
  meaning: 'Which process runs a job, so that several daemons share one warehouse.',
  key: ['name'],
  columns: {
    name: text('Name of the job; `backfill <job>` for a period that was asked for.'),
    holder: text('The process that runs it; null while it is free.'),
    host: text('Machine of the holder.'),
    pid: integer('Process number of the holder.'),
    place: text('Where that number means something: boot and process namespace.'),
    token: integer('Grows with every change of hands; checked inside every write of the holder.', {
      required: true,
    }),
    beat: integer('Grows while the holder lives; one that stands still for 20 s is replaced.', {
      required: true,
    }),
    taken_at: instant('When the holder took it, by its own clock.'),
    heartbeat_at: instant('Its last sign of life, by its own clock; for people only.'),
  },
});
