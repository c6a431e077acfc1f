// The wire schema that the columns of a table make: records of the generic mapping are validated against it.
import { describe, expect, it } from 'vitest';
import { checklistAnswers } from '../../../src/fleet/endpoints/checklist-answers.ts';
import { dailySummary as summaryCall } from '../../../src/fleet/endpoints/daily-summary.ts';
import { drivers } from '../../../src/fleet/endpoints/drivers.ts';
import { itineraries } from '../../../src/fleet/endpoints/itineraries.ts';
import { routePoint as pointCall } from '../../../src/fleet/endpoints/route-point.ts';
import { vehicles } from '../../../src/fleet/endpoints/vehicles.ts';
import { checkRecord } from '../../../src/fleet/record-check.ts';
import { wireSchema } from '../../../src/sync/pull/records/wire-schema.ts';
import { checklistAnswer } from '../../../src/warehouse/tables/checklist-answer.ts';
import { dailySummary } from '../../../src/warehouse/tables/daily-summary.ts';
import { driver } from '../../../src/warehouse/tables/driver.ts';
import { itinerary } from '../../../src/warehouse/tables/itinerary.ts';
import { routePoint } from '../../../src/warehouse/tables/route-point.ts';
import { routePointExecution } from '../../../src/warehouse/tables/route-point-execution.ts';
import { routePointItem } from '../../../src/warehouse/tables/route-point-item.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';

const schemas = {
  vehicle: wireSchema(vehicle, vehicles),
  driver: wireSchema(driver, drivers),
  itinerary: wireSchema(itinerary, itineraries),
  answer: wireSchema(checklistAnswer, checklistAnswers),
  summary: wireSchema(dailySummary, summaryCall),
  point: wireSchema(routePoint, pointCall),
  execution: wireSchema(routePointExecution),
  item: wireSchema(routePointItem),
};

describe('the wire schema of a table', () => {
  it.each([
    ['vehicle', { id: '1', crv: 5 }, { id: 1, crv: '5' }],
    ['itinerary', { id: 1, vehicle: { id: '2', title: 7 } }, { id: 1, vehicle: { id: 2, title: '7' } }],
    ['driver', { id: 1, is_deliveryman: 1 }, { id: 1, is_deliveryman: true }],
    ['summary', { title: 'ABC', count: '1.5' }, { title: 'ABC', count: 1.5 }],
    ['item', { value: '2.5' }, { value: 2.5 }],
    // Fields that the service does not document pass unchanged.
    ['point', { id: 1, address: { street: 'x' } }, { id: 1, address: { street: 'x' } }],
    ['execution', { id: 1, route_return_reason: 'late' }, { id: 1, route_return_reason: 'late' }],
    // Columns that a job adds are not fields of the service.
    ['execution', { id: 1, route_point_id: 'x' }, { id: 1, route_point_id: 'x' }],
  ] as const)('%s: %j becomes %j', (name, raw, record) => {
    expect(checkRecord(schemas[name], raw)).toEqual({ ok: true, record });
  });

  it.each([
    ['vehicle', {}, 'id: expected a whole number, got nothing'],
    ['summary', {}, 'title: expected text, got nothing'],
    ['vehicle', { id: 1, driver: { id: 'x' } }, 'driver.id: expected a whole number, got text'],
    ['vehicle', { id: 1, daily_summary: 'x' }, 'daily_summary: expected a list, got text'],
    ['driver', { id: 1, work_shift: 'x' }, 'work_shift: expected an object, got text'],
    ['itinerary', { id: 1, driver: { name: {} } }, 'driver.name: expected text, got an object'],
    [
      'answer',
      { id: 1, checklist_form_field: { table: { items: [{ id: 'x' }] } } },
      'checklist_form_field.table.items[0].id: expected a whole number, got text',
    ],
  ] as const)('%s: %j is invalid', (name, raw, reason) => {
    expect(checkRecord(schemas[name], raw)).toEqual({ ok: false, reason });
  });
});
