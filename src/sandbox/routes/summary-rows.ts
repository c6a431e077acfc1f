// A daily summary as a row of the report, titled by the vehicle's plate or by the driver's name.

import { driverIds } from '../made-up/identifiers.ts';
import { personName } from '../made-up/names.ts';
import type { Summary } from '../world/daily-summaries.ts';
import type { World } from '../world/world.ts';
import { vehicleIdentity } from './vehicle-records.ts';

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
