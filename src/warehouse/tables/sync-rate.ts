// One row an account: the rate that all processes draw from, where the engine lets them.
import { controlTable, instant, json, real, text } from '../table.ts';

export const syncRate = controlTable({
  name: 'sync_rate',
  meaning: 'The rate of an account at the service, which all processes on one PostgreSQL share.',
  key: ['account'],
  columns: {
    account: text('Digest of the address of the service and the account.'),
    next_ms: real('When the next call may start, in ms since 1970 by the clock of the database.', {
      required: true,
    }),
    paused_until: instant('Until when the service wants to be left alone; in the past where it does not.', {
      required: true,
    }),
    shares: json('For each process that calls now: the calls at once that it wants and has, its limits.', {
      required: true,
    }),
    updated_at: instant('When it was last drawn from, by the clock of the database.', { required: true }),
  },
});
