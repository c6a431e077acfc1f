// Events that an instant lies in: whoever reads one side of it only cannot tell whether they have vanished.
import type { Engine } from '../engine.ts';
import { event } from '../tables/event.ts';

/** When the earliest of them began, of some vehicles and of those that began at `from` or later. */
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
