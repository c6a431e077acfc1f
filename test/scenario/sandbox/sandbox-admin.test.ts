import { describe, expect, it } from 'vitest';
import { DAY, type Json, openSandbox } from './sandbox-client.ts';

describe('the ledger', () => {
  it('counts requests by call and by status, and never the admin’s own', async () => {
    await using client = await openSandbox();
    await client.get('/vehicle/', { includes: '' });
    await client.get('/vehicle/');
    await client.admin('clock');
    expect(await client.admin('ledger')).toMatchObject({
      logins: 1,
      requests: { login: 1, vehicles: 2 },
      requests_by_status: { '200': 2, '422': 1 },
      max_in_flight: 1,
      per_minute_max: 3,
    });
  });

  it('distinguishes the search from the plan on their common path', async () => {
    await using client = await openSandbox();
    await client.get('/import/route_plan', { begin_date: '2026-03-02' });
    await client.get('/import/route_plan', { route_plan_id: '2', includes: '' });
    expect(client.sandbox.ledger().requests).toMatchObject({ 'route-plans': 1, 'route-plan': 1 });
  });

  it('slides its minute over the clock that the client shares', async () => {
    await using client = await openSandbox();
    for (let i = 0; i < 6; i++) {
      await client.get('/point_of_interest/');
      await client.advance(30_000);
    }
    expect(client.sandbox.ledger().per_minute_max).toBe(3);
  });

  it('records how many requests were in flight at once', async () => {
    await using client = await openSandbox();
    client.sandbox.addFault({ call: 'vehicles', fault: 'hang' });
    const cut = new AbortController();
    const hanging = [1, 2, 3].map(() =>
      client.raw('/vehicle/?includes=', { signal: cut.signal }).catch(() => undefined),
    );
    while (client.sandbox.ledger().requests.vehicles !== 3) await client.admin('clock');
    cut.abort();
    await Promise.all(hanging);
    expect(client.sandbox.ledger().max_in_flight).toBe(3);
  });
});

describe('the clock', () => {
  it('is moved from outside when it is stepped', async () => {
    await using client = await openSandbox();
    expect(await client.admin('clock', { advance_ms: DAY })).toMatchObject({
      mode: 'stepped',
      now: '2026-03-03T15:00:00.000Z',
    });
  });

  it('cannot be moved when time runs by itself', async () => {
    await using client = await openSandbox({ stepped: false, startAt: undefined });
    const reply = await client.raw('/_sandbox/clock', { method: 'POST', body: '{"advance_ms":1}' });
    expect(reply.status).toBe(409);
    expect((await client.admin('clock')).mode).toBe('real');
  });

  it('dates the answers', async () => {
    await using client = await openSandbox();
    expect((await client.get('/point_of_interest/')).headers.get('date')).toBe('Mon, 02 Mar 2026 15:00:00 GMT');
  });
});

describe('shapes', () => {
  it('change the envelope of a listing', async () => {
    await using client = await openSandbox({ vehicles: 1, churn: false });
    const read = async () => (await client.get('/vehicle/', { includes: '' })).json;
    const [vehicle] = (await read()).data;
    await client.admin('shapes', { data: 'object-when-single' });
    expect(await read()).toEqual({ data: vehicle });
    await client.admin('shapes', { data: 'top-level' });
    expect(await read()).toEqual([vehicle]);
  });

  it('change the format of instants and numbers', async () => {
    await using client = await openSandbox({ shapes: { dates: 'offset', numbers: 'text' } });
    const [vehicle] = (await client.get('/vehicle/', { includes: 'fleet' })).json.data;
    expect(vehicle.date_created).toMatch(/T\d\d:\d\d:\d\d-03:00$/);
    expect(vehicle.hodometer).toMatch(/^\d+$/);
    expect([typeof vehicle.id, typeof vehicle.fleet.id]).toEqual(['number', 'number']);
    await client.admin('shapes', { dates: 'z-millis' });
    const [same] = (await client.get('/vehicle/', { includes: '' })).json.data;
    expect(Date.parse(same.date_created)).toBe(Date.parse(vehicle.date_created));
    expect(same.date_created).toMatch(/\.000Z$/);
  });

  it('change the answer to a creation', async () => {
    await using client = await openSandbox();
    const body = { data: { title: 'Yard', latitude: 1, longitude: 2 } };
    const create = async (created: string) => {
      await client.admin('shapes', { created });
      return (await client.send('POST', '/point_of_interest/', body)).text;
    };
    expect(JSON.parse(await create('data-object')).data.title).toBe('Yard');
    expect(JSON.parse(await create('object')).title).toBe('Yard');
    expect(Object.keys(JSON.parse(await create('id-only')))).toEqual(['id']);
    expect(await create('empty')).toBe('');
  });

  it('change the form of a picture', async () => {
    await using client = await openSandbox();
    const [{ signature }] = await client.admin('truth/checklists?from=2026-03-01');
    const read = async (picture: string) => {
      await client.admin('shapes', { picture });
      return (await client.get('/checklist/picture/', { picture: signature })).text;
    };
    const base64 = await read('base64');
    expect(await read('data-uri')).toBe(`data:image/png;base64,${base64}`);
    expect(JSON.parse(await read('json'))).toEqual({ data: base64 });
  });

  it('are rejected when they are unknown', async () => {
    await using client = await openSandbox();
    const reply = await client.raw('/_sandbox/shapes', { method: 'POST', body: '{"data":"csv"}' });
    expect(reply.status).toBe(422);
  });
});

describe('added records', () => {
  it('come with a listing unchanged until they are cleared', async () => {
    await using client = await openSandbox();
    const dirty = { id: 'not a number', plate: null };
    await client.admin('records', { call: 'vehicles', records: [dirty, 7] });
    const read = async () => (await client.get('/vehicle/', { includes: '' })).json.data;
    const listed = await read();
    expect(listed.slice(-2)).toEqual([dirty, 7]);
    await client.raw('/_sandbox/records', { method: 'DELETE' });
    expect(await read()).toHaveLength(listed.length - 2);
  });
});

describe('the truth', () => {
  it('is the state that the calls show', async () => {
    await using client = await openSandbox();
    const vehicles = await client.admin('truth/vehicles');
    const ids = JSON.stringify(vehicles.map((vehicle: Json) => vehicle.id));
    const listed = await client.get('/vehicle/', {
      includes: 'fleet,vehicle_model,fuel_category,vehicle_color,vehicle_category',
    });
    expect(new Set(listed.json.data.map(canonical))).toEqual(new Set(vehicles.map(canonical)));
    const events = await client.admin('truth/events?from=2026-03-01T00:00:00Z&to=2026-03-02T15:00:00Z');
    const trips = await client.get('/event/', {
      periods: '[{"begin":"2026-03-01T00:00:00Z","end":"2026-03-02T15:00:00Z"}]',
      event_category: '1',
      vehicles_id: ids,
      includes: 'vehicle,driver,location_start,location_end',
    });
    const truth = events.filter((event: Json) => event.event_category === 1 && ids.includes(event.vehicle.id));
    expect(new Set(trips.json.map(canonical))).toEqual(new Set(truth.map(canonical)));
  });

  it('is available for every resource, and for no other', async () => {
    await using client = await openSandbox();
    for (const what of ['vehicles', 'drivers', 'points_of_interest', 'route_plans', 'events', 'daily_summaries']) {
      expect(await client.admin(`truth/${what}?from=2026-03-01`)).not.toHaveLength(0);
    }
    const day = await client.admin('truth/daily_summaries?day=2026-02-28');
    expect(new Set(day.map((row: Json) => row.day))).toEqual(new Set(['2026-02-28']));
    expect((await client.raw('/_sandbox/truth/secrets')).status).toBe(404);
    expect((await client.raw('/_sandbox/truth/events?from=soon')).status).toBe(422);
  });
});

const canonical = (record: Json): string => JSON.stringify(Object.entries(record).sort());
