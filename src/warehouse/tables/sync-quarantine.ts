// Records that did not fit, kept whole with the reason; one that is nested too deep is cut. The same record met again is
// the same row.
import { boolean, controlTable, instant, integer, json, text } from '../schema/table.ts';

export const syncQuarantine = controlTable({
  name: 'sync_quarantine',
  meaning: 'Records that did not fit their table, kept whole with the reason.',
  key: ['id'],
  age: 'last_seen_at',
  columns: {
    id: text('Digest of table and payload.'),
    job: text('Job that met it.', { required: true }),
    table_name: text('Table it was meant for.', { required: true }),
    record_key: text('Key of the record where it has one.'),
    reason: text('Why it did not fit: field paths and expectations.', { required: true }),
    is_part: boolean(
      'It is not whole, or was refused because of what came beside it: only a new reading can place it.',
    ),
    payload: json('The record; secrets and tax numbers masked.', { personal: true, required: true }),
    first_seen_at: instant('When it was first met.', { required: true }),
    last_seen_at: instant('When it was last met.', { required: true }),
    times: integer('How often it was met.', { required: true }),
    run_id: text('The run that last met it.', { required: true }),
  },
  indexes: [['job'], ['table_name', 'record_key']],
});
