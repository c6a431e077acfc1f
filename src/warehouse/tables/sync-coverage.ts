// What has been read: a row says that [begin_at, end_at) of a scope is in the warehouse. Written in the same
// transaction as the rows it speaks of, so it is never ahead of them.
import { controlTable, instant, text } from '../schema/table.ts';

export const syncCoverage = controlTable({
  name: 'sync_coverage',
  meaning: 'Periods of each job and scope that have been read in full.',
  key: ['job', 'scope', 'begin_at'],
  columns: {
    job: text('Name of the job.'),
    scope: text('What was read, in the words of the job; `all` for a whole listing.'),
    begin_at: instant('Start of the period; the epoch where a listing has no period.'),
    end_at: instant('End of the period, exclusive.', { required: true }),
    covered_at: instant('When any part of it was last read.', { required: true }),
    run_id: text('The run that last read it.', { required: true }),
  },
});
