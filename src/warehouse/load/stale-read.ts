// A stale read: another run stored the same rows after this read began, for example a backfill, a manual run, or another
// daemon while this one was suspended. The stored rows may be newer, so they are not overwritten.
import { Retriable } from '../../core/errors.ts';

export class StaleRead extends Retriable {
  constructor(table: string, rows: number) {
    super(`Another run wrote ${rows} rows of ${table} while this run was reading them`, {
      code: 'stale_read',
      hint: 'Nothing is lost: the rows are read again, by the next run at the latest.',
    });
  }
}
