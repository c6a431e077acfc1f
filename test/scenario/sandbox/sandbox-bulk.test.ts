import { describe, expect, it } from 'vitest';
import { type Json, openSandbox, type SandboxClient } from './sandbox-client.ts';

const bulk = () => openSandbox({ vehicles: 5, churn: false, bulkEvents: { perVehiclePerDay: 480 } });

const INCLUDES = 'vehicle,driver,location_start';

function query(client: SandboxClient, category: number, begin: string, end: string, changes = {}) {
  return client.get('/event/', {
    periods: JSON.stringify([{ begin, end }]),
    event_category: String(category),
    vehicles_id: '[1000000,1000002,1000004,1000006,1000008]',
    includes: INCLUDES,
    ...changes,
  });
}

const day = (client: SandboxClient, category: number, changes = {}) =>
  query(client, category, '2026-03-01T00:00:00Z', '2026-03-01T23:59:59Z', changes);

describe('bulk events', () => {
  it('are as many as requested, each with its own id', async () => {
    await using client = await bulk();
    const categories = [...Array(14).keys()].map((i) => i + 1).concat([22, 23, 24, 25, 26, 27, 28, 29, 30, 31]);
    const all: Json[] = [];
    for (const category of categories) all.push(...(await day(client, category)).json);
    expect(all).toHaveLength(5 * 480);
    expect(new Set(all.map((event) => event.id)).size).toBe(all.length);
    expect(all.every((event) => Number.isSafeInteger(event.id))).toBe(true);
    expect(all.every((event) => event.begin_date.startsWith('2026-03-01T'))).toBe(true);
  });

  it('name the vehicles and drivers that the listings name', async () => {
    await using client = await bulk();
    const vehicles = await client.admin('truth/vehicles');
    for (const { vehicle, driver } of (await day(client, 1)).json) {
      const listed = vehicles.find((one: Json) => one.id === vehicle.id);
      expect(vehicle.plate).toBe(listed.plate);
      expect(driver).toEqual({ id: listed.driver.id, name: listed.driver.name });
    }
  });

  it('are the same whether a period is read at once or in parts', async () => {
    await using client = await bulk();
    const begin = '2026-02-27T07:00:00Z';
    const whole = (await query(client, 12, begin, '2026-03-01T19:00:00Z')).json;
    const parts = [
      ...(await query(client, 12, begin, '2026-02-28T11:29:59Z')).json,
      ...(await query(client, 12, '2026-02-28T11:30:00Z', '2026-03-01T19:00:00Z')).json,
    ];
    const ids = (events: Json[]) => events.map((event) => event.id).sort();
    expect(ids(parts)).toEqual(ids(whole));
    expect((await query(client, 12, begin, '2026-03-01T19:00:00Z')).json).toEqual(whole);
  });

  it('are not there before they happened', async () => {
    await using client = await bulk();
    const today = (await query(client, 1, '2026-03-02T00:00:00Z', '2026-03-03T23:59:59Z')).json;
    expect(today.length).toBeGreaterThan(0);
    expect(today.every((event: Json) => event.end_date <= '2026-03-02T15:00:00Z')).toBe(true);
    expect((await query(client, 1, '2026-03-03T00:00:00Z', '2026-03-03T23:59:59Z')).text).toBe('[]');
  });

  it('respect the minimum distance and the includes', async () => {
    await using client = await bulk();
    const far = (await day(client, 3, { distance: '50000', includes: '' })).json;
    expect(far.length).toBeGreaterThan(0);
    expect(far.every((event: Json) => event.distance >= 50_000)).toBe(true);
    expect(Object.keys(far[0])).toEqual(['id', 'event_category', 'begin_date', 'end_date', 'distance']);
  });
});
