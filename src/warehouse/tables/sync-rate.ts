// One row an account: the rate that all processes take permits from, on an engine that lets them.
import { controlTable, instant, integer, real, text } from '../schema/table.ts';

const required = { required: true };

export const syncRate = controlTable({
  name: 'sync_rate',
  meaning: 'The rate of an account at the service, which all processes on one PostgreSQL share.',
  key: ['account'],
  columns: {
    account: text('Digest of the address of the service and the account.'),
    next_ms: real(
      'From when on a whole burst of calls may start at once, in ms since 1970 by the clock of the database.',
      required,
    ),
    paused_until: instant(
      'Until when the service wants no calls; in the past if it does not say so.',
      required,
    ),
    turn: integer(
      'Where the process stands that was given permits last; it goes up with every permit.',
      required,
    ),
    urgent_priority: integer('Priority of the first call that was left without a permit.', required),
    urgent_turn: integer('Where its process stands; among equals the lower one goes first.', required),
    urgent_until: instant('Until when calls after it get no permit.', required),
    per_minute: integer('The lowest requests_per_minute of the processes that asked lately.', required),
    per_minute_at: instant('When a process last asked with that figure.', required),
    updated_at: instant('When a process last asked, by the clock of the database.', required),
  },
});
