// GET /daily_summary/. A day counts if it starts before end_date and ends after initial_date. Without aggregated_fields,
// rows are by vehicle. A vehicle that did not move in the period has no row.
import { Rejection } from '../http/answer.ts';
import { type Call, type CallRequest, readCall } from '../http/call.ts';
import {
  integerCollection,
  requireCollection,
  requiredInstant,
  requireParameter,
  wordCollection,
} from '../http/parameters.ts';
import { listAnswer } from '../http/shapes.ts';
import { driverIds, vehicleIds } from '../made-up/identifiers.ts';
import { personName } from '../made-up/names.ts';
import { dayOf, startOfDay } from '../world/company-time.ts';
import { accumulate, type Summary, summaryOf } from '../world/daily-summaries.ts';
import type { World } from '../world/world.ts';
import { vehicleIdentity } from './vehicle-records.ts';

const SUBJECTS = ['vehicle', 'driver'] as const;
const INCLUDES = ['driver', 'vehicle', 'vehicle.device'] as const;

export const dailySummaryCalls = (world: World): Call[] => [
  readCall('daily-summary', '/daily_summary/', (request) => querySummaries(world, request)),
];

function querySummaries(world: World, { query }: CallRequest) {
  const from = requiredInstant(query, 'initial_date');
  const to = requiredInstant(query, 'end_date');
  const type = requireParameter(query, 'daily_type');
  if (type !== 'analytical' && type !== 'aggregate') {
    throw new Rejection(422, 'daily_type: must be analytical or aggregate');
  }
  const fieldsName = query.has('aggregated_field') ? 'aggregated_field' : 'aggregated_fields';
  const subjects = wordCollection(query, fieldsName, SUBJECTS) ?? ['vehicle'];
  const vehicles = requireCollection('vehicles_id', integerCollection(query, 'vehicles_id')).map(vehicleIds.indexOf);
  const drivers = (integerCollection(query, 'driver_ids') ?? []).map(driverIds.indexOf);
  const includes = wordCollection(query, 'includes', INCLUDES) ?? [];
  const isWanted = (index: number | undefined): index is number =>
    index !== undefined && (drivers.length === 0 || drivers.includes(index));
  const byDriver = subjects.includes('driver') && !subjects.includes('vehicle');
  const rows = [...new Set(vehicles)].filter(isWanted).flatMap((index) => {
    const days = summariesOf(world, index, from, to);
    const shown = type === 'analytical' || days.length === 0 ? days : [accumulate(days)];
    return shown.map((summary) => summaryRow(world, index, summary, byDriver, includes));
  });
  return listAnswer(world.shapes, rows);
}

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
