// What people ordered through the status server. A row is written before the order is carried out, so that one
// that was cut is seen as well.
import { controlTable, instant, text } from '../schema/table.ts';

export const syncAudit = controlTable({
  name: 'sync_audit',
  meaning: 'Every action that was ordered through the status server.',
  key: ['id'],
  columns: {
    id: text('Identifier; sorts by time.'),
    at: instant('When it was ordered.', { required: true }),
    action: text('run, pause, resume, retry, cancel or retry quarantine.', { required: true }),
    subject: text('Job, entry of the outbox, or record in quarantine.', { required: true }),
    by: text('Where the order came from: the address of the client.', { required: true }),
    outcome: text('What came of it, in plain words; `begun` where the process ended first.', {
      required: true,
    }),
  },
});
