// One row an attempt to send an entry or to read it back: its story, in order. A repeated reading with the same
// result is the same row, counted.
import { controlTable, instant, integer, text } from '../table.ts';

export const pushAttempt = controlTable({
  name: 'push_attempt',
  meaning:
    'Every attempt to send an entry of the outbox or to find it, and every order of a person about it.',
  key: ['kind', 'external_code', 'number'],
  columns: {
    kind: text('Kind of the entry.'),
    external_code: text('Code of the entry.'),
    number: integer('Place in its story, from 1.'),
    what: text('create, change, read-back or order.', { required: true }),
    run_id: text('The run that made it; null for a command.'),
    started_at: instant('When it began; on disk before the first byte leaves.', { required: true }),
    finished_at: instant('When it ended; null where the process died first.'),
    outcome: text(
      'accepted, refused, unclear, turned-away, not-sent, found, absent, blind, unreadable, vouched or revived; null while open.',
    ),
    error_code: text('Stable word for the failure.'),
    http_status: integer('Status of the answer, where there was one.'),
    message: text('What happened, in plain words.'),
    times: integer('How often in a row.', { required: true }),
  },
});
