// A reading that took so long that another one, begun later, was stored before it: a backfill beside the schedule, a run
// by hand, a daemon that was stopped for a while. It may be the older of the two, so it is not put over the stored rows.
import { Retriable } from '../../core/errors.ts';

export class StaleRead extends Retriable {
  constructor(table: string, rows: number) {
    super(`${rows} rows of ${table} were written by another run while they were read`, {
      code: 'stale_read',
      hint: 'Nothing was lost: it is read again, by the next run at the latest.',
    });
  }
}
