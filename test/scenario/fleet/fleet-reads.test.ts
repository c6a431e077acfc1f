// Every read of the service against the sandbox over HTTP: each record fits its schema, in each shape of answer.
import { describe, expect, it } from 'vitest';
import { Skippable } from '../../../src/core/errors.ts';
import type { Fleet } from '../../../src/fleet/client.ts';
import { checklist } from '../../../src/fleet/endpoints/checklist.ts';
import { checklistAnswers } from '../../../src/fleet/endpoints/checklist-answers.ts';
import { checklistPicture } from '../../../src/fleet/endpoints/checklist-picture.ts';
import { checklists } from '../../../src/fleet/endpoints/checklists.ts';
import { dailySummary } from '../../../src/fleet/endpoints/daily-summary.ts';
import { drivers } from '../../../src/fleet/endpoints/drivers.ts';
import { events } from '../../../src/fleet/endpoints/events.ts';
import { itineraries } from '../../../src/fleet/endpoints/itineraries.ts';
import { itinerary } from '../../../src/fleet/endpoints/itinerary.ts';
import { pointsOfInterest } from '../../../src/fleet/endpoints/points-of-interest.ts';
import { routePlan } from '../../../src/fleet/endpoints/route-plan.ts';
import { routePlans } from '../../../src/fleet/endpoints/route-plans.ts';
import { routePoint } from '../../../src/fleet/endpoints/route-point.ts';
import { vehicles } from '../../../src/fleet/endpoints/vehicles.ts';
import type { Shapes } from '../../../src/sandbox/sandbox.ts';
import { failureOf, fitting, openBoth } from '../../support/fleet/fleet-setup.ts';

const DAY = { date_time_start: '2025-03-11T00:00:00-03:00', date_time_end: '2025-03-12T00:00:00-03:00' };
const VEHICLE_INCLUDES = ['fleet', 'vehicle_model', 'fuel_category', 'vehicle_color', 'vehicle_category'] as const;
const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

async function readEverything(fleet: Fleet) {
  const vehicleList = await fitting(fleet, vehicles, { includes: [...VEHICLE_INCLUDES] });
  const ids = vehicleList.map(({ id }) => id as number);
  const plans = await fitting(fleet, routePlans, {
    begin_date: DAY.date_time_start,
    end_date: DAY.date_time_end,
    includes: ['vehicle', 'vehicle.device', 'user'],
  });
  const [plan] = await fitting(fleet, routePlan, {
    route_plan_id: plans[0]?.id as number,
    includes: ['route_points', 'route_points.routes_info', 'route_points.route_point_items', 'vehicle', 'user'],
  });
  const points = plan?.route_points as { id: number; external_code: string }[];
  const stop = points.find(({ external_code }) => external_code !== null && external_code !== undefined);
  const lists = await fitting(fleet, checklists, { ...DAY, includes: ['user', 'checklist_form'] });
  const listId = lists[0]?.id as number;
  const period = { initial_date: DAY.date_time_start, end_date: DAY.date_time_end };
  return {
    vehicles: vehicleList,
    plans,
    plan,
    points,
    point: await fitting(fleet, routePoint, {
      route_plan_id: plans[0]?.id as number,
      external_code: stop?.external_code as string,
    }),
    checklists: lists,
    checklist: await fitting(fleet, checklist, { id: listId }),
    answers: await fitting(fleet, checklistAnswers, {
      id: listId,
      includes: ['checklist_form_field', 'checklist_form_field.table', 'checklist_form_field.table.items'],
    }),
    agents: await fitting(fleet, drivers, {}),
    drivers: await fitting(fleet, drivers, { is_deliveryman: false, includes: ['department'] }),
    pois: await fitting(fleet, pointsOfInterest, {}),
    summaries: await fitting(fleet, dailySummary, {
      ...period,
      vehicles_id: ids,
      aggregated_fields: ['vehicle'],
    }),
    days: await fitting(fleet, dailySummary, { ...period, vehicles_id: ids, daily_type: 'analytical' }),
    events: await fitting(fleet, events, {
      periods: [{ begin: DAY.date_time_start, end: DAY.date_time_end }],
      event_category: 1,
      vehicles_id: ids,
      includes: ['vehicle', 'driver', 'location_start', 'location_end'],
      aggregated_field: 'vehicle',
    }),
  };
}

describe('reads', () => {
  it('every listing returns records that fit their schema', async () => {
    const { fleet, sandbox } = await openBoth();
    const read = await readEverything(fleet);
    for (const [name, records] of Object.entries(read)) {
      expect(records, name).toBeDefined();
      if (Array.isArray(records) && name !== 'drivers') expect(records.length, name).toBeGreaterThan(0);
    }
    expect(read.events[0]?.begin_date).toMatch(UTC);
    expect(read.events[0]?.vehicle).toMatchObject({ plate: expect.any(String) });
    expect(read.point[0]?.external_code).toBe(read.points.find(({ id }) => id === read.point[0]?.id)?.external_code);
    expect(read.checklist).toHaveLength(1);
    expect(Object.keys(sandbox.ledger().requests_by_status)).toEqual(['200']);
  });

  const variants: Partial<Shapes>[] = [
    { data: 'top-level' },
    { data: 'object-when-single' },
    { dates: 'offset' },
    { dates: 'z-millis' },
    { numbers: 'text' },
    { data: 'top-level', dates: 'offset', numbers: 'text' },
  ];
  it.each(variants)('return the same records from another shape: %j', async (shapes) => {
    const plain = await openBoth({ stepped: true });
    const other = await openBoth({ stepped: true, shapes });
    expect(await readEverything(other.fleet)).toEqual(await readEverything(plain.fleet));
  });

  it.each(['json', 'comma', 'repeat'] as const)('work with Collections sent as %s', async (collections) => {
    const { fleet, sandbox } = await openBoth({}, { settings: { collections } });
    const read = await readEverything(fleet);
    const some = read.vehicles.slice(0, 2).map(({ id }) => id as number);
    const rows = await fleet.call(dailySummary, {
      initial_date: DAY.date_time_start,
      end_date: DAY.date_time_end,
      vehicles_id: some,
    });
    expect(rows).toHaveLength(2);
    expect(read.vehicles[0]).toMatchObject({ fleet: { id: expect.any(Number) }, vehicle_color: {} });
    expect(Object.keys(sandbox.ledger().requests_by_status)).toEqual(['200']);
  });

  it('itineraries and itinerary: a period, then one in detail', async () => {
    const { fleet } = await openBoth();
    const list = await fitting(fleet, itineraries, {
      ...DAY,
      includes: ['vehicle', 'driver', 'position_start'],
    });
    expect(list.length).toBeGreaterThan(0);
    const [one] = await fitting(fleet, itinerary, { id: list[0]?.id as number });
    expect(one?.id).toBe(list[0]?.id);
    expect(one?.date_time_start).toMatch(UTC);
  });

  it.each(['base64', 'data-uri', 'json'] as const)(
    'checklist-picture: the image is decoded from %s',
    async (picture) => {
      const { fleet } = await openBoth({ shapes: { picture } });
      const [first] = await fitting(fleet, checklists, DAY);
      const image = await fleet.call(checklistPicture, { picture: first?.signature as string });
      expect(image.contentType).toBe('image/png');
      expect(image.bytes.subarray(1, 4).toString()).toBe('PNG');
    },
  );

  it.each([
    [checklist, { id: 999_999_999 }],
    [itinerary, { id: 999_999_999 }],
  ] as const)('a missing record is skippable', async (endpoint, request) => {
    const { fleet, sandbox } = await openBoth();
    const failure = await failureOf(fleet.call(endpoint, request));
    expect(failure).toBeInstanceOf(Skippable);
    expect(failure.code).toBe('not_found');
    expect(sandbox.ledger().requests[endpoint.name]).toBe(1);
  });

  it('a record that is not an object fails validation, not the call', async () => {
    const { fleet, admin } = await openBoth();
    await admin('/records', {
      call: 'vehicles',
      records: ['text', null, { id: 'x' }, { id: '9007199254740993' }],
    });
    const raw = await fleet.call(vehicles, { includes: ['fleet'] });
    expect(raw.slice(-4)).toEqual(['text', null, { id: 'x' }, { id: '9007199254740993' }]);
  });
});
