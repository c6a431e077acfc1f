// GET /daily_summary/. A day counts if it starts before end_date and ends after initial_date. Without aggregated_fields,
// rows are by vehicle. A vehicle that did not move in the period has no row.
import { z } from 'zod';
import { call } from '../http/call.ts';
import { instant, integerText, list, one, readQuery } from '../http/parameters.ts';
import { listAnswer } from '../http/shapes.ts';
import { driverIds, vehicleIds } from '../made-up/identifiers.ts';
import { personName } from '../made-up/names.ts';
import { dayOf, startOfDay } from '../world/company-time.ts';
import { accumulate, type Summary, summaryOf } from '../world/daily-summaries.ts';
import type { World } from '../world/world.ts';
import { vehicleIdentity } from './vehicle-records.ts';

const subjects = list(z.enum(['vehicle', 'driver'])).optional();
const QUERY = z.object({
  initial_date: one(instant),
  end_date: one(instant),
  daily_type: one(z.enum(['analytical', 'aggregate'])),
  aggregated_field: subjects,
  aggregated_fields: subjects,
  vehicles_id: list(integerText),
  driver_ids: list(integerText).default([]),
  includes: list(z.enum(['driver', 'vehicle', 'vehicle.device'])).default([]),
});

export const dailySummaryCalls = [
  call('daily-summary', 'GET', '/daily_summary/', ({ world }, { query }) => {
    const wanted = readQuery(QUERY, query);
    const drivers = wanted.driver_ids.map(driverIds.indexOf);
    const isWanted = (index: number | undefined): index is number =>
      index !== undefined && (drivers.length === 0 || drivers.includes(index));
    const subjects = wanted.aggregated_field ?? wanted.aggregated_fields ?? ['vehicle'];
    const byDriver = subjects.includes('driver') && !subjects.includes('vehicle');
    const vehicles = new Set(wanted.vehicles_id.map(vehicleIds.indexOf));
    const rows = [...vehicles].filter(isWanted).flatMap((index) => {
      const days = summariesOf(world, index, wanted.initial_date, wanted.end_date);
      const shown = wanted.daily_type === 'analytical' || days.length === 0 ? days : [accumulate(days)];
      return shown.map((summary) => summaryRow(world, index, summary, byDriver, wanted.includes));
    });
    return listAnswer(world.shapes, rows);
  }),
];

function summariesOf(world: World, index: number, from: number, to: number): Summary[] {
  const found: Summary[] = [];
  const last = Math.min(dayOf(world.now()), dayOf(to));
  for (let day = dayOf(from); day <= last && startOfDay(day) < to; day++) {
    const summary = summaryOf(world, index, day);
    if (summary !== undefined) found.push(summary);
  }
  return found;
}

/** One row of the report. Its title is the vehicle's plate or the driver's name. */
export function summaryRow(
  world: World,
  index: number,
  summary: Summary,
  byDriver: boolean,
  includes: readonly string[],
): Record<string, unknown> {
  const { id, title, plate, device } = vehicleIdentity(world.seed, index);
  const name = personName(world.seed, 'driver', index);
  const row: Record<string, unknown> = { title: byDriver ? name : plate, ...summary };
  if (includes.includes('driver')) row.driver = { id: driverIds.of(index), name };
  if (includes.some((one) => one.startsWith('vehicle'))) {
    row.vehicle = { id, title, plate, ...(includes.includes('vehicle.device') ? { device } : {}) };
  }
  return row;
}
