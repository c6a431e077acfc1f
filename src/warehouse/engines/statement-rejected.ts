// The error for a statement that the database rejected for no reason that a user can mend.
import { Fatal } from '../../core/errors.ts';

/** Keeps the stack of the driver's error and drops its message, which holds bound values. */
export function statementRejected(details: string, thrown: Error, code: string): Fatal {
  const cause = new Error(code);
  cause.stack = [code, ...(thrown.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))].join('\n');
  return new Fatal(`The warehouse rejected a statement (${details})`, {
    code: 'warehouse_failed',
    hint: 'This is a bug in Roadbook: report it with the log line.',
    cause,
  });
}
