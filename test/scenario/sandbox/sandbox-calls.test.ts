import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, openSandbox, type SandboxClient, somePlan } from './sandbox-client.ts';

const PERIOD = { date_time_start: '2026-02-23T00:00:00Z', date_time_end: '2026-03-02T15:00:00Z' };
const periods = JSON.stringify([{ begin: '2026-02-23T00:00:00Z', end: '2026-03-02T15:00:00Z' }]);

let client: SandboxClient;
let vehicles: Json[];

beforeAll(async () => {
  client = await openSandbox();
  vehicles = (await client.get('/vehicle/', { includes: '' })).json.data;
});
afterAll(() => client.sandbox.close());

const vehicleIds = () => JSON.stringify(vehicles.map((vehicle) => vehicle.id));

describe('the bearer token', () => {
  it.each([
    ['GET', '/vehicle/?includes='],
    ['GET', '/driver/?is_deliveryman=1'],
    ['GET', '/checklist/'],
    ['GET', '/checklist/1'],
    ['GET', '/checklist/picture/'],
    ['GET', '/checklist_form_field_executed/'],
    ['GET', '/import/route_plan'],
    ['GET', '/import/route_plan?route_plan_id=1'],
    ['GET', '/import/route_point'],
    ['POST', '/import/route_plan'],
    ['GET', '/point_of_interest/'],
    ['POST', '/point_of_interest/'],
    ['PUT', '/point_of_interest/'],
    ['GET', '/itinerary/'],
    ['GET', '/itinerary/1'],
    ['POST', '/itinerary/'],
    ['PUT', '/itinerary/1'],
    ['POST', '/driver/'],
    ['GET', '/daily_summary/'],
    ['GET', '/event/'],
  ])('is required by %s %s', async (method, path) => {
    expect((await client.raw(path, { method })).status).toBe(401);
    expect((await client.raw(path, { method, headers: { authorization: 'Bearer nonsense' } })).status).toBe(401);
  });
});

describe('required parameters', () => {
  it.each([
    ['/vehicle/'],
    ['/driver/'],
    ['/checklist/?date_time_start=2026-03-01T00:00:00Z'],
    ['/checklist/?date_time_start=yesterday&date_time_end=2026-03-01T00:00:00Z'],
    ['/checklist_form_field_executed/?id=1'],
    ['/checklist/picture/'],
    ['/import/route_plan?route_plan_id=2'],
    ['/import/route_point?route_plan_id=2&includes=routes_info'],
    ['/itinerary/?date_time_start=2026-03-01T00:00:00Z'],
    ['/daily_summary/?initial_date=2026-03-01T00:00:00Z&end_date=2026-03-02T00:00:00Z&vehicles_id=[1]'],
    ['/event/?event_category=1&vehicles_id=[1]'],
    [`/event/?periods=${encodeURIComponent(periods)}&event_category=1`],
  ])('are missing in %s', async (path) => {
    const reply = await client.get(path);
    expect(reply.status).toBe(422);
    expect(reply.json.message).toEqual(expect.any(String));
  });
});

describe('code lists', () => {
  it.each([
    ['/vehicle/?includes=colour'],
    ['/vehicle/?includes=&status=X'],
    ['/vehicle/?includes=&visible=3'],
    ['/point_of_interest/?point_of_interest_category_id=10'],
    ['/import/route_plan?route_plan_statuses=P,Z'],
    ['/import/route_plan?includes=route_points'],
    ['/driver/?is_deliveryman=1&cnh_category_id=10'],
    ['/itinerary/?date_time_start=2026-03-01T00:00:00Z&date_time_end=2026-03-02T00:00:00Z&includes=plan'],
    [`/event/?periods=${encodeURIComponent(periods)}&event_category=15&vehicles_id=[1]`],
    [`/event/?periods=${encodeURIComponent(periods)}&event_category=1&vehicles_id=1,2`],
    [`/event/?periods=${encodeURIComponent(periods)}&event_category=1&vehicles_id=[1]&includes=trailer`],
  ])('do not contain a value of %s', async (path) => {
    expect((await client.get(path)).status).toBe(422);
  });
});

describe('vehicles', () => {
  it('have related objects only on request, in any encoding of the collection', async () => {
    const [json, comma, repeated, bracketed] = await Promise.all([
      client.get('/vehicle/?includes=["fleet","vehicle_color"]'),
      client.get('/vehicle/?includes=fleet,vehicle_color'),
      client.get('/vehicle/?includes=fleet&includes=vehicle_color'),
      client.get('/vehicle/?includes[]=fleet&includes[]=vehicle_color'),
    ]);
    expect(json?.json.data[0]).toMatchObject({ fleet: { id: expect.any(Number) }, vehicle_color: {} });
    expect(json?.json.data[0]).not.toHaveProperty('vehicle_model');
    for (const other of [comma, repeated, bracketed]) expect(other?.text).toBe(json?.text);
  });

  it('are found by plate and by status', async () => {
    const { plate } = vehicles[0];
    expect((await client.get('/vehicle/', { includes: '', plate })).json.data).toHaveLength(1);
    const active = (await client.get('/vehicle/', { includes: '', status: 'A' })).json.data;
    expect(active.every((vehicle: Json) => vehicle.status === 'A')).toBe(true);
  });
});

describe('agents and drivers', () => {
  it('are two listings that together hold every vehicle’s driver', async () => {
    const agents = (await client.get('/driver/', { is_deliveryman: '1' })).json.data;
    const others = (await client.get('/driver/', { is_deliveryman: '0' })).json.data;
    const ids = [...agents, ...others].map((driver: Json) => driver.id);
    expect(vehicles.every((vehicle) => ids.includes(vehicle.driver_id))).toBe(true);
    expect(agents.length).toBeGreaterThan(0);
    expect(others.length).toBeGreaterThan(0);
  });

  it('accept a new agent, twice if sent twice', async () => {
    const data = {
      name: 'Ana Lima',
      cpf: '52998224725',
      rg: '1',
      company_registry: 'R1',
      is_deliveryman: true,
    };
    const body = { data, is_deliveryman: true };
    const created = await client.send('POST', '/driver/', body);
    expect(created.json.data).toMatchObject({
      id: expect.any(Number),
      name: 'Ana Lima',
      is_deliveryman: true,
    });
    await client.send('POST', '/driver/', body);
    const found = (await client.get('/driver/', { is_deliveryman: '1', cpf: '52998224725' })).json.data;
    expect(found).toHaveLength(2);
    expect(client.sandbox.ledger().agents).toEqual({ '52998224725': 2 });
  });

  it('reject an agent whose fields have other types', async () => {
    const wrong = { data: { name: 'Ana', cpf: 5, is_deliveryman: true }, is_deliveryman: true };
    expect((await client.send('POST', '/driver/', wrong)).status).toBe(422);
    expect((await client.send('POST', '/driver/', { name: 'Ana' })).status).toBe(422);
  });
});

describe('points of interest', () => {
  const point = {
    title: 'New yard',
    latitude: -23.5,
    longitude: -46.6,
    point_of_interest_category: { id: 8 },
  };

  it('are created, listed by category and changed', async () => {
    const created = (await client.send('POST', '/point_of_interest/', { data: { ...point, phone: '11' } })).json.data;
    expect(created.point_of_interest_category).toEqual({ id: 8, name: 'Workshop' });
    const change = { id: created.id, title: 'Old yard', latitude: -23.5, longitude: -46.6 };
    const changed = await client.send('PUT', '/point_of_interest/', { data: change });
    expect(changed.json.data).toMatchObject({ id: created.id, title: 'Old yard', phone: '11' });
    const listed = (await client.get('/point_of_interest/', { point_of_interest_category_id: '8' })).json.data;
    expect(listed.find((one: Json) => one.id === created.id).title).toBe('Old yard');
    expect(client.sandbox.ledger().points_of_interest).toEqual({ 'New yard': 1 });
  });

  it('can be changed when the sandbox generated them', async () => {
    const [first] = (await client.get('/point_of_interest/')).json.data;
    await client.send('PUT', '/point_of_interest/', { data: { ...first, title: 'Renamed' } });
    const listed = (await client.get('/point_of_interest/')).json.data;
    expect(listed.filter((one: Json) => one.id === first.id)).toEqual([{ ...first, title: 'Renamed' }]);
  });

  it.each([
    ['POST', { latitude: 1, longitude: 1 }, 422],
    ['POST', { ...point, latitude: 91 }, 422],
    ['POST', { ...point, point_of_interest_category: { id: 10 } }, 422],
    ['PUT', point, 422],
    ['PUT', { ...point, id: 999_999_999 }, 404],
  ] as const)('reject a %s with %j', async (method, data, status) => {
    expect((await client.send(method, '/point_of_interest/', { data })).status).toBe(status);
  });
});

describe('itineraries', () => {
  it('are created, changed, listed and shown', async () => {
    const vehicle_id = vehicles[0].id;
    const created = await client.send('POST', '/itinerary/', {
      data: {
        description: 'North round',
        external_id: 'X-1',
        vehicle_id,
        driver_id: vehicles[0].driver_id,
        date_time_start_estimated: '2026-03-05T10:00:00Z',
        date_time_end_estimated: '2026-03-05T18:00:00-03:00',
        start_local: 'Depot',
        end_local: 'Depot',
      },
    });
    const { id } = created.json.data;
    await client.send('PUT', `/itinerary/${id}`, { data: { description: 'South round' } });
    const shown = (await client.get(`/itinerary/${id}`)).json.data;
    expect(shown).toMatchObject({
      description: 'South round',
      external_id: 'X-1',
      date_time_start: '2026-03-05T10:00:00Z',
      date_time_end: '2026-03-05T21:00:00Z',
      vehicle: { id: vehicle_id },
    });
    const period = { date_time_start: '2026-03-05T00:00:00Z', date_time_end: '2026-03-05T23:00:00Z' };
    const listed = (await client.get('/itinerary/', period)).json.data;
    expect(listed.map((one: Json) => one.id)).toContain(id);
    expect(listed[0].vehicle).toBeNull();
    expect(client.sandbox.ledger().itineraries).toEqual({ 'X-1': 1 });
  });

  it('are not found under an unknown id', async () => {
    expect((await client.get('/itinerary/999999999')).status).toBe(404);
    expect((await client.send('PUT', '/itinerary/999999999', { data: {} })).status).toBe(404);
  });
});

describe('checklists', () => {
  it('lead from the listing to the answers and to real pictures', async () => {
    const listed = (await client.get('/checklist/', PERIOD)).json.data;
    expect(listed[0]).toMatchObject({
      user: { name: expect.any(String) },
      checklist_form: { icon: expect.any(String) },
    });
    const { id, signature } = listed[0];
    expect((await client.get(`/checklist/${id}`)).json.data).toEqual(listed[0]);
    const answers = await client.get('/checklist_form_field_executed/', {
      id: String(id),
      includes: 'checklist_form_field.table.items',
    });
    expect(answers.json.data[0].checklist_form_field.table.items[0].risk_level).toBe('L');
    const picture = await client.get('/checklist/picture/', { picture: signature });
    expect(Buffer.from(picture.text, 'base64').subarray(1, 4).toString()).toBe('PNG');
    expect((await client.get('/checklist/picture/', { picture: 'unknown' })).status).toBe(404);
    expect((await client.get('/checklist/999999998')).status).toBe(404);
  });

  it('are narrowed to agents and to one execution', async () => {
    const all = (await client.get('/checklist/', PERIOD)).json.data;
    const user = all[0].user_id;
    const ofUser = (await client.get('/checklist/', { ...PERIOD, user_ids: `[${user}]`, includes: '' })).json.data;
    expect(ofUser.every((one: Json) => one.user_id === user && !('user' in one))).toBe(true);
    const one = (await client.get('/checklist/', { ...PERIOD, checklist_code: String(all[1].id) })).json.data;
    expect(one).toHaveLength(1);
  });
});

describe('daily summaries', () => {
  const query = (changes: Record<string, string>) => ({
    initial_date: '2026-02-23T03:00:00Z',
    end_date: '2026-03-02T03:00:00Z',
    daily_type: 'analytical',
    vehicles_id: vehicleIds(),
    ...changes,
  });

  it('add up by day or over the whole period', async () => {
    const days = (await client.get('/daily_summary/', query({}))).json.data;
    const whole = (
      await client.get('/daily_summary/', query({ daily_type: 'aggregate', aggregated_fields: 'vehicle' }))
    ).json.data;
    const { plate } = vehicles[0];
    const sum = days
      .filter((row: Json) => row.title === plate)
      .reduce((total: number, row: Json) => total + row.total_distance, 0);
    expect(whole.find((row: Json) => row.title === plate).total_distance).toBe(sum);
  });

  it('are titled by driver when grouped by driver', async () => {
    const rows = (await client.get('/daily_summary/', query({ aggregated_fields: '["driver"]', includes: 'driver' })))
      .json.data;
    expect(rows[0].title).toBe(rows[0].driver.name);
  });
});

describe('events', () => {
  const query = (changes: Record<string, string>) => ({
    periods,
    event_category: '1',
    vehicles_id: vehicleIds(),
    ...changes,
  });

  it('come as a plain array with the requested related objects', async () => {
    const events = (await client.get('/event/', query({ includes: 'vehicle,location_start' }))).json;
    expect(events.length).toBeGreaterThan(50);
    expect(events[0]).toEqual({
      id: expect.any(Number),
      event_category: 1,
      begin_date: expect.stringMatching(/Z$/),
      end_date: expect.any(String),
      distance: expect.any(Number),
      vehicle: { id: expect.any(Number), plate: expect.any(String), model: expect.any(String) },
      location_start: { address: expect.any(String) },
    });
  });

  it('are narrowed by distance, by driver and by several periods, and grouped by vehicle', async () => {
    const far = (await client.get('/event/', query({ distance: '10000' }))).json;
    expect(far.every((event: Json) => event.distance >= 10_000)).toBe(true);
    const driver = `[${vehicles[0].driver_id}]`;
    const { vehicles_id: _, ...byDriver } = query({ driver_ids: driver, includes: 'driver' });
    expect((await client.get('/event/', byDriver)).json[0].driver.id).toBe(vehicles[0].driver_id);
    const twice = JSON.stringify([...JSON.parse(periods), ...JSON.parse(periods)]);
    const all = (await client.get('/event/', query({}))).json;
    expect((await client.get('/event/', query({ periods: twice }))).json).toHaveLength(all.length);
    const grouped = (await client.get('/event/', query({ aggregated_field: 'vehicle', includes: 'vehicle' }))).json;
    const order = grouped.map((event: Json) => event.vehicle.id);
    expect(new Set(order.filter((id: number, i: number) => id !== order[i - 1])).size).toBe(
      order.filter((id: number, i: number) => id !== order[i - 1]).length,
    );
  });
});

describe('route plans', () => {
  it('are searched by period and status and shown with their executions', async () => {
    const found = await client.get('/import/route_plan', {
      begin_date: '2026-03-01T03:00:00Z',
      end_date: '2026-03-02T23:00:00Z',
      route_plan_statuses: '["E","C"]',
      includes: 'vehicle.device,user',
    });
    const [plan] = found.json.data;
    expect(plan).toMatchObject({
      vehicle: { device: { serial: expect.any(String) } },
      user: { login: expect.any(String) },
    });
    const whole = await client.get('/import/route_plan', {
      route_plan_id: String(plan.id),
      includes: 'route_points.routes_info,route_points.route_point_items',
    });
    const points = whole.json.data[0].route_points;
    expect(points.map((point: Json) => point.type)).toEqual(expect.arrayContaining(['PA', 'PE', 'CH']));
    const done = points.find((point: Json) => point.status !== 'P');
    expect(done.routes_info[0]).toMatchObject({ return_date: expect.any(String) });
    const one = await client.get('/import/route_point', {
      route_plan_id: String(plan.id),
      external_code: done.external_code,
      includes: 'routes_info',
    });
    expect(one.json.data[0].routes_info).toEqual(done.routes_info);
  });

  it('return an empty list when there is none', async () => {
    const query = { route_plan_id: '999999999', includes: 'route_points' };
    expect((await client.get('/import/route_plan', query)).json).toEqual({ data: [] });
  });

  it.each([
    ['source', undefined],
    ['optimize', 'yes'],
    ['data', undefined],
  ])('reject an import whose %s is %j', async (name, value) => {
    const body = somePlan('rejected', {}, { [name]: value });
    const plan = name === 'data' ? { ...body, data: undefined } : body;
    expect((await client.send('POST', '/import/route_plan', plan)).status).toBe(422);
  });

  it('reject both plural forms together', async () => {
    const plan = somePlan('rejected', {
      vehicle_plates: [vehicles[0].plate],
      document_numbers: ['52998224725'],
    });
    expect((await client.send('POST', '/import/route_plan', plan)).status).toBe(422);
    expect(client.sandbox.ledger().plans).not.toHaveProperty('rejected');
  });

  it('accept both singular forms together', async () => {
    const [driver] = (await client.get('/driver/', { is_deliveryman: '1' })).json.data;
    const plan = somePlan('both', { vehicle_plate: vehicles[0].plate, document_number: driver.cpf });
    expect((await client.send('POST', '/import/route_plan', plan)).json).toEqual({
      route_points: 3,
      wrong_lines: [],
      wrong_route_plans: [],
      unassigned_points: [],
    });
    const [found] = (await client.get('/import/route_plan', { route_plan_code: 'both', includes: 'vehicle' })).json
      .data;
    expect(found).toMatchObject({
      status: 'P',
      user_id: driver.user_id,
      vehicle: { plate: vehicles[0].plate },
    });
  });

  it('report the wrong points and accept the rest', async () => {
    const route_points = [
      { name: 'Nowhere' },
      { name: 'Too far north', latitude: 99, longitude: 0 },
      { name: 'Odd', type: 'Pausa', address: 'Rua 1' },
      { name: 'Fine', address: 'Rua 2' },
    ];
    const answer = (await client.send('POST', '/import/route_plan', somePlan('partly', { route_points }))).json;
    expect(answer.route_points).toBe(1);
    expect(answer.wrong_lines.map((wrong: Json) => wrong.line)).toEqual([1, 2, 3]);
  });

  it('create nothing for an unknown plate or without a usable point', async () => {
    const stranger = somePlan('stranger', { vehicle_plate: 'ZZZ9999' });
    const empty = somePlan('empty', { route_points: [{ name: 'Nowhere' }] });
    for (const plan of [stranger, empty]) {
      const answer = (await client.send('POST', '/import/route_plan', plan)).json;
      expect(answer.wrong_route_plans).toHaveLength(1);
      expect(answer.route_points).toBe(0);
    }
    expect(client.sandbox.ledger().plans).not.toHaveProperty('stranger');
    expect(client.sandbox.ledger().plans).not.toHaveProperty('empty');
  });

  it('leave out the points that one vehicle cannot take', async () => {
    const route_points = Array.from({ length: 63 }, (_, i) => ({ name: `Stop ${i}`, address: `Rua ${i}` }));
    const plan = somePlan('large', { route_points, vehicle_plate: vehicles[0].plate });
    const answer = (await client.send('POST', '/import/route_plan', plan)).json;
    expect(answer.route_points).toBe(60);
    expect(answer.unassigned_points.map((point: Json) => point.name)).toEqual(['Stop 60', 'Stop 61', 'Stop 62']);
  });

  it.each(['constructor', '__proto__', 'Pão & Cia / 7 %'])('may be called %s', async (code) => {
    await client.send('POST', '/import/route_plan', somePlan(code));
    expect((await client.get('/import/route_plan', { route_plan_code: code })).json.data).toHaveLength(1);
    expect(Object.entries((await client.admin('ledger')).plans)).toContainEqual([code, 1]);
  });

  it('are narrowed to a vehicle and to an agent', async () => {
    const { id } = vehicles[1];
    const ofVehicle = (await client.get('/import/route_plan', { vehicle_id: String(id) })).json.data;
    expect(ofVehicle.length).toBeGreaterThan(100);
    expect(ofVehicle.every((plan: Json) => plan.vehicle_id === id)).toBe(true);
    const { user_id } = ofVehicle[0];
    const period = { begin_date: '2026-02-01', end_date: '2026-03-01 12:00' };
    const ofUser = (await client.get('/import/route_plan', { ...period, user_id: String(user_id) })).json.data;
    expect(ofUser.every((plan: Json) => plan.user_id === user_id)).toBe(true);
    expect((await client.get('/import/route_plan', { vehicle_id: '7' })).json.data).toEqual([]);
  });

  it('are two plans when the same code is sent twice', async () => {
    for (let i = 0; i < 2; i++) await client.send('POST', '/import/route_plan', somePlan('again'));
    expect((await client.get('/import/route_plan', { route_plan_code: 'again' })).json.data).toHaveLength(2);
    expect(client.sandbox.ledger().plans.again).toBe(2);
  });
});

describe('paths', () => {
  it('are accepted as the document writes them', async () => {
    expect((await client.get('/vehicle?includes=')).status).toBe(404);
    expect((await client.get('/import/route_plan/')).status).toBe(404);
    expect((await client.get('/checklist/abc')).status).toBe(404);
  });

  it('answer 400 to a body that is not JSON', async () => {
    const { json } = await client.raw('/auth/login/', { method: 'POST', body: '{"username"' });
    expect(json.message).toBe('The body is not JSON');
  });
});
