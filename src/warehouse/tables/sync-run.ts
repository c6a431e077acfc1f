// One row a run: what was started, how it ended, what it counted.
import { controlTable, instant, integer, text } from '../schema/table.ts';

const count = (meaning: string) => integer(meaning, { required: true });

export const syncRun = controlTable({
  name: 'sync_run',
  meaning: 'Every run of every job.',
  key: ['run_id'],
  columns: {
    run_id: text('Identifier of the run.'),
    job: text('Name of the job.', { required: true }),
    cause: text('What started it: schedule, catch-up, manual or backfill.', { required: true }),
    tick_at: instant('The planned instant; null for a manual run.'),
    status: text('running, ok, partial, failed or abandoned.', { required: true }),
    started_at: instant('When it started.', { required: true }),
    finished_at: instant('When it ended; null while it runs.'),
    host: text('Machine that ran it.', { required: true }),
    pid: count('Process that ran it.'),
    lease: text('Lease that it ran under.'),
    lease_token: integer('Token of that lease: orders the runs of a job, whatever the clocks said.'),
    slices: count('Slices worked on.'),
    requests: count('HTTP requests sent, each attempt counted.'),
    retries: count('Requests that were repeated.'),
    records: count('Records received: inserted + updated + unchanged + quarantined.'),
    inserted: count('Rows that were new.'),
    updated: count('Rows whose content changed.'),
    unchanged: count('Records equal to their row, which was not written.'),
    quarantined: count('Records that did not fit.'),
    sent: count('Things sent to the service.'),
    confirmed: count('Things the service confirmed.'),
    rejected: count('Things refused.'),
    unknown: count('Things whose outcome is not known yet.'),
    error_code: text('Stable word for the failure.'),
    error: text('The failure in plain words.'),
    error_hint: text('What to try.'),
  },
  indexes: [['job', 'started_at'], ['job', 'lease_token'], ['status']],
});
