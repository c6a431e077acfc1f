// A fleet of 100 vehicles until 31 March 2026, loaded through the engine's own loader: events in the number asked for in the
// last three months, and as many plans, stops, days and checklists as such a fleet has in `days`. The same rows at every run.
import type { Engine, Row } from '../../../src/warehouse/engine.ts';
import { rowMapping } from '../../../src/warehouse/load/row-mapping.ts';
import type { Table } from '../../../src/warehouse/schema/table.ts';
import { checklist } from '../../../src/warehouse/tables/checklist.ts';
import { checklistAnswer } from '../../../src/warehouse/tables/checklist-answer.ts';
import { dailySummary } from '../../../src/warehouse/tables/daily-summary.ts';
import { driver } from '../../../src/warehouse/tables/driver.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { routePlan } from '../../../src/warehouse/tables/route-plan.ts';
import { routePoint } from '../../../src/warehouse/tables/route-point.ts';
import { routePointExecution } from '../../../src/warehouse/tables/route-point-execution.ts';
import { routePointItem } from '../../../src/warehouse/tables/route-point-item.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { metadataAt } from '../../support/warehouse/load-metadata.ts';

const VEHICLES = 100;
const EVENT_DAYS = 90;
const STOPS = 12;
const QUESTIONS = 10;
const CATEGORIES = [1, 2, 6, 7, 8, 11, 12, 13, 26, 27];
const DAY_MS = 86_400_000;
/** 1 January 2026 in São Paulo: day 0. Earlier days are negative. */
const BEGIN = Date.parse('2026-01-01T03:00:00.000Z');
/** Identifiers of earlier days are positive too. */
const FIRST_DAY = -3_650;

type Fields = Record<string, unknown>;

const at = (ms: number): string => new Date(ms).toISOString();
const range = (length: number): number[] => Array.from({ length }, (_, index) => index);
const plate = (index: number): string => `ABC${1_000 + index}`;

export async function loadFleet(engine: Engine, events: number, days = EVENT_DAYS): Promise<number> {
  let rows = await put(engine, vehicle, BEGIN, range(VEHICLES).map(vehicleRecord));
  rows += await put(engine, driver, BEGIN, range(VEHICLES).map(driverRecord));
  const perVehicle = Math.ceil(events / (VEHICLES * EVENT_DAYS));
  for (const day of range(days).map((index) => index + EVENT_DAYS - days)) {
    const seenAt = BEGIN + day * DAY_MS + DAY_MS / 2;
    for (const [table, records] of recordsOf(day, day < 0 ? 0 : perVehicle))
      rows += await put(engine, table, seenAt, records);
  }
  await noteReading(engine);
  return rows;
}

async function put(engine: Engine, table: Table, ms: number, records: Fields[]): Promise<number> {
  const toRow = rowMapping(table);
  const rows = records.map((record): Row => {
    const mapped = toRow(record as never);
    if ('invalid' in mapped) throw new Error(mapped.invalid);
    return mapped.row;
  });
  await engine.write((tx) => tx.load(table, rows, metadataAt('bench', at(ms))));
  return rows.length;
}

const vehicleRecord = (index: number): Fields => ({
  id: index + 1,
  plate: plate(index),
  title: `Truck ${index}`,
  fleet: { id: index % 5, name: `Fleet ${index % 5}` },
  cost_center: { id: index % 9, name: `Centre ${index % 9}` },
});

const driverRecord = (index: number): Fields => ({
  id: index + 1,
  user_id: index + 1,
  name: `Driver ${index}`,
  department: { id: index % 3, name: `Department ${index % 3}` },
});

/** Rows of the fleet for one day, table by table. */
function recordsOf(day: number, perVehicle: number): [Table, Fields[]][] {
  const vehicles = range(VEHICLES);
  const points = vehicles.flatMap((index) => range(STOPS).map((place) => stopRecords(day, index, place)));
  const forms = vehicles.map((index) => ({
    id: planId(day, index),
    checklist_form: { id: index % 3, name: `Form ${index % 3}` },
    user: { id: index + 1, name: `Driver ${index}` },
    date_executed: at(BEGIN + day * DAY_MS + 8 * 3_600_000),
  }));
  return [
    [event, vehicles.flatMap((index) => range(perVehicle).map((n) => eventRecord(day, index, n, perVehicle)))],
    [routePlan, vehicles.map((index) => planRecord(day, index))],
    [routePoint, points.map(({ point }) => point)],
    [routePointExecution, points.map(({ execution }) => execution)],
    [routePointItem, points.map(({ item }) => item)],
    [dailySummary, vehicles.flatMap((index) => summaryRecords(day, index))],
    [checklist, forms],
    [checklistAnswer, forms.flatMap(({ id }) => range(QUESTIONS).map((field) => answerRecord(id, field)))],
  ];
}

function eventRecord(day: number, index: number, n: number, perVehicle: number): Fields {
  const begin = BEGIN + day * DAY_MS + Math.floor((n * DAY_MS) / perVehicle) + index * 1_000;
  return {
    event_category: CATEGORIES[n % CATEGORIES.length],
    id: (day * VEHICLES + index) * 10_000 + n,
    begin_date: at(begin),
    end_date: at(begin + 60_000 + ((n * 7_919) % 600_000)),
    distance: (n * 131) % 5_000,
    vehicle: { id: index + 1, plate: plate(index), model: 'Cargo 816' },
    driver: { id: index + 1, name: `Driver ${index}` },
    location_start: { address: `Avenida ${n % 97}, ${index}, São Paulo` },
    location_end: { address: `Rua ${n % 89}, ${index}, São Paulo` },
  };
}

const planId = (day: number, index: number): number => (day - FIRST_DAY) * VEHICLES + index + 1;

const planRecord = (day: number, index: number): Fields => ({
  id: planId(day, index),
  status: day > EVENT_DAYS - 2 ? 'E' : 'C',
  external_code: `R-${planId(day, index)}`,
  date_time_start: at(BEGIN + day * DAY_MS + 8 * 3_600_000),
  date_time_end: at(BEGIN + day * DAY_MS + 18 * 3_600_000),
  vehicle_id: index + 1,
  vehicle: { id: index + 1, plate: plate(index), title: `Truck ${index}` },
  user: { id: index + 1, name: `Driver ${index}`, login: `d${index}` },
});

function stopRecords(day: number, index: number, place: number): { point: Fields; execution: Fields; item: Fields } {
  const id = planId(day, index) * 100 + place;
  const scheduled = BEGIN + day * DAY_MS + (8 * 60 + place * 45) * 60_000;
  const luck = ((planId(day, index) * 31 + place * 17) * 7_919) % 100;
  const isEnd = place === 0 || place === STOPS - 1;
  const isOpen = day > EVENT_DAYS - 2 && place > 6;
  const status = isOpen ? 'P' : isEnd ? 'R' : luck < 8 ? 'D' : luck < 12 ? 'M' : 'E';
  return {
    point: {
      id,
      route_plan_id: planId(day, index),
      external_code: `S-${id}`,
      name: `Invoice ${id}`,
      address: `Rua ${id % 97}`,
      type: place === 0 ? 'PA' : place === STOPS - 1 ? 'CH' : 'PE',
      order: place,
      optimized_order: place,
      status,
      time_scheduled: at(scheduled),
    },
    execution: {
      id,
      route_point_id: isOpen ? -id : id,
      return_date: at(scheduled + (luck - 40) * 60_000),
      pictures: luck % 3 === 0 ? null : `${id}.png`,
      signature_img: status === 'E' ? `${id}s.png` : null,
      ...(status === 'D' ? { route_return_reason: { id: luck % 4, name: `Reason ${luck % 4}` } } : {}),
    },
    item: { route_point_id: id, position: 0, external_code: `I-${id}`, value: luck, quantity: 1 },
  };
}

function summaryRecords(day: number, index: number): Fields[] {
  const figures = {
    day: at(BEGIN + day * DAY_MS).slice(0, 10),
    count_travel: 8,
    total_distance: 100_000 + index * day,
    total_time_in_moviment: 20_000 + index,
    total_time_in_ignition_on: 25_000 + index,
    total_time_in_ignition_off: 61_400 - index,
    count_high_speed: index % 4,
  };
  return [
    { ...figures, subject: 'vehicle', title: plate(index), vehicle_id: index + 1 },
    { ...figures, subject: 'driver', title: `Driver ${index}`, driver_id: index + 1 },
  ];
}

const answerRecord = (checklistId: number, field: number): Fields => ({
  id: checklistId * QUESTIONS + field,
  checklist_id: checklistId,
  value: 'Yes',
  risk_level: (checklistId + field) % 17 === 0 ? 'H' : 'L',
  checklist_form_field: { id: field, name: `Question ${field}`, type: 'list', order: field },
});

/** Control rows that runs would have written: until when the days were read, and a push for every tenth plan. */
async function noteReading(engine: Engine): Promise<void> {
  const job = 'pull-daily-summaries';
  const readAt = at(BEGIN + EVENT_DAYS * DAY_MS);
  const scopes = ['drivers', ...range(VEHICLES).map((index) => `vehicle ${index + 1}`)];
  const sent = range((VEHICLES * EVENT_DAYS) / 10).map((n) => ({
    kind: 'route_plans',
    external_code: `R-${planId(0, 0) + n * 10}`,
    state: n % 50 === 0 ? 'rejected' : 'confirmed',
    content_hash: 'x',
    remote_key: `R-${planId(0, 0) + n * 10}`,
    remote_id: planId(0, 0) + n * 10,
    attempts: 1,
    unclear_sends: 0,
    created_at: at(BEGIN + n * 8_640_000),
    confirmed_at: at(BEGIN + n * 8_640_000 + 60_000),
    updated_at: readAt,
    revision: 1,
  }));
  await engine.write(async ({ sql }) => {
    await sql('table_job').insert({ table_name: 'daily_summary', job, scopes: '%' });
    for (const scope of scopes) {
      const covered = {
        job,
        scope,
        begin_at: at(BEGIN),
        end_at: readAt,
        covered_at: readAt,
        run_id: 'bench',
      };
      await sql('sync_coverage').insert(covered);
    }
    for (let start = 0; start < sent.length; start += 50) {
      await sql('push_outbox').insert(sent.slice(start, start + 50));
    }
  });
}
