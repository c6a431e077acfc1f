// One row a running daemon, so that any of them can tell of all.
import { controlTable, instant, integer, text } from '../table.ts';

export const syncDaemon = controlTable({
  name: 'sync_daemon',
  meaning: 'The daemons that work on this warehouse, each with its last sign of life.',
  key: ['id'],
  columns: {
    id: text('The process, unique for ever.'),
    host: text('Its machine.', { required: true }),
    pid: integer('Its process number there.', { required: true }),
    version: text('The version of Roadbook that it runs.', { required: true }),
    started_at: instant('When it began.', { required: true }),
    heartbeat_at: instant(
      'Its last sign of life, every 5 s; by the clock of the database where that is a server.',
      { required: true },
    ),
    slices_done: integer('Slices that it has loaded since it began.', { required: true }),
    slices_per_minute: integer('Slices that it loaded in the minute before its last sign of life.', {
      required: true,
    }),
  },
});
