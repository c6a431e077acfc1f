// Events that span an instant. A read of only one side of the instant cannot decide whether they have vanished.
import type { Engine } from '../engine.ts';
import { event } from '../tables/event.ts';

/** Start of the earliest event of these vehicles that began at `from` or later and spans `at`. */
export const earliestAcross = (
  engine: Pick<Engine, 'read'>,
  vehicles: readonly number[],
  { from, at }: { from: string; at: string },
): Promise<string | undefined> =>
  engine.read(async (sql) => {
    const row = await sql(event.name)
      .whereIn('vehicle_id', vehicles)
      .where('begin_date', '>=', from)
      .where('begin_date', '<', at)
      .where('end_date', '>=', at)
      .whereNull('_missing_since')
      .orderBy('begin_date')
      .first('begin_date');
    return row?.begin_date;
  });
