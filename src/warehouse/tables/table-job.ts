// Which job fills which table, filled at start from the jobs and their settings, so that a view can tell freshness.
import { controlTable, text } from '../schema/table.ts';

export const tableJob = controlTable({
  name: 'table_job',
  meaning: 'Which job fills which table, and which part of its coverage tells how fresh the table is.',
  key: ['table_name', 'job'],
  columns: {
    table_name: text('Name of the table.'),
    job: text('Name of the job.'),
    scopes: text(
      'Pattern (LIKE) of the scopes in sync_coverage that the job reads under its present settings.',
      {
        required: true,
      },
    ),
    vehicle_scope: text(
      'The scope of one vehicle, `%` for its id; null where the job does not read by vehicle.',
    ),
    driver_scope: text(
      'The scope of the drivers of one vehicle, `%` for its id; null where the job does not read by driver.',
    ),
  },
});
