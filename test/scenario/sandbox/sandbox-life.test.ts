import { execFile } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { DAY, HOUR, type Json, MONDAY_NOON, openSandbox, type SandboxClient, somePlan } from './sandbox-client.ts';

const MINUTE = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
afterAll(() => rmSync(folder, { recursive: true }));

const iso = (at: number): string => new Date(at).toISOString();

/** The records that a client can see; logs in again when its token expires. */
async function survey(client: SandboxClient): Promise<Json> {
  await client.login();
  const now = client.sandbox.clock.now();
  const vehicles = (await client.get('/vehicle/', { includes: '' })).json.data;
  const ids = JSON.stringify(vehicles.map((vehicle: Json) => vehicle.id));
  const plans = await client.get('/import/route_plan', {
    begin_date: iso(now - 2 * DAY),
    end_date: iso(now + 2 * DAY),
  });
  const summaries = await client.get('/daily_summary/', {
    initial_date: iso(now - DAY),
    end_date: iso(now),
    daily_type: 'analytical',
    vehicles_id: ids,
  });
  return { vehicles, plans: plans.json.data, summaries: summaries.json.data };
}

async function onePlan(client: SandboxClient, code: string): Promise<Json> {
  await client.login();
  const [found] = (await client.get('/import/route_plan', { route_plan_code: code })).json.data;
  if (found === undefined) return undefined;
  const includes = 'route_points.routes_info';
  return (await client.get('/import/route_plan', { route_plan_id: String(found.id), includes })).json.data[0];
}

describe('a stepped month', () => {
  it('shows vehicles that appear, are cancelled and vanish, and plans in every state', async () => {
    await using client = await openSandbox({ vehicles: 30 });
    const statuses = new Set<string>();
    const vehicleStatuses = new Set<string>();
    const first = await survey(client);
    for (let step = 0; step < 60; step++) {
      await client.advance(12 * HOUR);
      const seen = await survey(client);
      for (const plan of seen.plans) statuses.add(plan.status);
      for (const vehicle of seen.vehicles) vehicleStatuses.add(vehicle.status);
    }
    const last = await survey(client);
    const ids = (seen: Json) => new Set<number>(seen.vehicles.map((vehicle: Json) => vehicle.id));
    expect([...ids(last)].some((id) => !ids(first).has(id))).toBe(true);
    expect([...ids(first)].some((id) => !ids(last).has(id))).toBe(true);
    expect(vehicleStatuses).toEqual(new Set(['A', 'B', 'C']));
    expect(statuses).toEqual(new Set(['P', 'E', 'C', 'I']));
  });

  it('shows the optimisation to a client that reads at the right minute', async () => {
    await using client = await openSandbox();
    const transitions = await client.admin('truth/transitions?from=2026-02-25&to=2026-03-02');
    const optimising = transitions.filter((one: Json) => one.entity === 'route_plan' && one.to_status === 'R');
    expect(optimising.length).toBeGreaterThan(10);
  });

  it('recalculates past days and adds late events', async () => {
    await using client = await openSandbox({ startAt: MONDAY_NOON + DAY });
    const day = 'truth/daily_summaries?from=2026-02-20&to=2026-03-02T23:00:00Z';
    const events = 'truth/events?from=2026-02-20&to=2026-03-02T23:00:00Z';
    const before = { days: await client.admin(day), events: await client.admin(events) };
    await client.advance(4 * DAY);
    const after = { days: await client.admin(day), events: await client.admin(events) };
    expect(after.events.length).toBeGreaterThan(before.events.length);
    expect(after.days).not.toEqual(before.days);
    await client.advance(30 * DAY);
    expect(await client.admin(events)).toHaveLength(after.events.length);
  });

  it('agrees with its own log of transitions', async () => {
    await using client = await openSandbox();
    await client.advance(3 * HOUR);
    const log = await client.admin('truth/transitions?from=2026-02-20&to=2026-03-03');
    const plans = await client.admin('truth/route_plans?from=2026-03-01&to=2026-03-04');
    const last = (entity: string, id: number) =>
      log.findLast((one: Json) => one.entity === entity && one.entity_id === id)?.to_status;
    for (const plan of plans) {
      expect(last('route_plan', plan.id)).toBe(plan.status);
      for (const point of plan.route_points) expect(last('route_point', point.id)).toBe(point.status);
    }
  });
});

describe('an imported plan', () => {
  it('is ready at once when imported synchronously, then driven to its end', async () => {
    await using client = await openSandbox();
    await client.send('POST', '/import/route_plan', somePlan('sync'));
    expect((await onePlan(client, 'sync')).status).toBe('P');
    await client.advance(4 * DAY);
    const done = await onePlan(client, 'sync');
    expect(done.status).toBe('C');
    expect(done.route_points.every((point: Json) => point.status !== 'P')).toBe(true);
    expect(done.route_points.every((point: Json) => point.routes_info.length === 1)).toBe(true);
  });

  it('waits and is optimised when imported asynchronously', async () => {
    await using client = await openSandbox();
    await client.send('POST', '/import/route_plan', somePlan('async', {}, { is_async: true }));
    const seen: string[] = [];
    for (let second = 0; second <= 130; second += 5) {
      const { status } = await onePlan(client, 'async');
      if (seen.at(-1) !== status) seen.push(status);
      await client.advance(5_000);
    }
    expect(seen).toEqual(['W', 'R', 'P']);
  });

  it('appears in searches only after the configured delay', async () => {
    await using client = await openSandbox({ importVisibleAfterMs: 10 * MINUTE });
    await client.send('POST', '/import/route_plan', somePlan('slow'));
    expect(await onePlan(client, 'slow')).toBeUndefined();
    expect(client.sandbox.ledger().plans).toEqual({ slow: 1 });
    await client.advance(10 * MINUTE);
    expect(await onePlan(client, 'slow')).toMatchObject({ status: 'P' });
  });

  it('keeps the given order unless it is optimised', async () => {
    await using client = await openSandbox();
    const route_points = [
      { name: 'Third', order: 3, latitude: -23.5, longitude: -46.5 },
      { name: 'First', order: 1, latitude: -23.6, longitude: -46.7 },
      { name: 'Second', order: 2, latitude: -23.5, longitude: -46.6 },
    ];
    await client.send('POST', '/import/route_plan', somePlan('given', { route_points }, { optimize: false }));
    const { route_points: points } = await onePlan(client, 'given');
    expect(points.map((point: Json) => [point.name, point.optimized_order])).toEqual([
      ['First', 1],
      ['Second', 2],
      ['Third', 3],
    ]);
  });
});

describe('the same seed and the same steps', () => {
  it('give the same bytes', async () => {
    const tour = async (seed: number): Promise<string> => {
      await using client = await openSandbox({
        seed,
        clock: createManualClock(MONDAY_NOON),
        stepped: undefined,
      });
      const texts = [JSON.stringify(await client.login())];
      for (let step = 0; step < 4; step++) {
        texts.push((await client.send('POST', '/import/route_plan', somePlan(`P${step}`))).text);
        texts.push(JSON.stringify(await survey(client)));
        const from = iso(client.sandbox.clock.now() - DAY);
        for (const what of ['events', 'checklists', 'itineraries', 'transitions', 'drivers']) {
          texts.push(JSON.stringify(await client.admin(`truth/${what}?from=${from}`)));
        }
        await client.advance(7 * HOUR);
      }
      return texts.join('\n');
    };
    const [one, same, other] = [await tour(1), await tour(1), await tour(2)];
    expect(same).toBe(one);
    expect(other).not.toBe(one);
  });

  it('give the same bytes in another process', async () => {
    await using client = await openSandbox();
    const path = '/_sandbox/truth/route_plans?from=2026-02-20&to=2026-03-03';
    const module = new URL('../../../src/sandbox/sandbox.ts', import.meta.url);
    const code = `
      const { startSandbox } = await import('${module}');
      const sandbox = await startSandbox({ stepped: true, startAt: ${MONDAY_NOON} });
      process.stdout.write(await (await fetch(sandbox.url + '${path}')).text());
      await sandbox.close();`;
    const args = ['--input-type=module', '--eval', code];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 });
    expect(stdout).toBe((await client.raw(path)).text);
  });
});

describe('a restart', () => {
  it('keeps written data and the generated history', async () => {
    const stateFile = join(folder, 'state', 'writes.jsonl');
    const snapshot = async (client: SandboxClient) => ({
      plan: await onePlan(client, 'kept'),
      points: (await client.get('/point_of_interest/')).text,
      survey: await survey(client),
    });
    const before = await (async () => {
      await using client = await openSandbox({ stateFile });
      await client.send('POST', '/import/route_plan', somePlan('kept'));
      await client.send('POST', '/point_of_interest/', {
        data: { title: 'Yard', latitude: 0, longitude: 0 },
      });
      return await snapshot(client);
    })();
    await using client = await openSandbox({ stateFile });
    expect(await snapshot(client)).toEqual(before);
    expect(client.sandbox.ledger().plans).toEqual({ kept: 1 });
    await client.send('POST', '/import/route_plan', somePlan('next'));
    expect((await onePlan(client, 'next')).id).not.toBe(before.plan.id);
  });

  it('drops a write that a crash cut short, and continues after it', async () => {
    const stateFile = join(folder, 'cut.jsonl');
    await (await openSandbox({ stateFile })).sandbox.close();
    appendFileSync(stateFile, '{"at":1,"kind":"route_pl');
    await using client = await openSandbox({ stateFile });
    await client.send('POST', '/import/route_plan', somePlan('after'));
    await using again = await openSandbox({ stateFile });
    expect(again.sandbox.ledger().plans).toEqual({ after: 1 });
  });

  it('keeps a token of an accelerated sandbox as long as its client expects', async () => {
    await using client = await openSandbox({ speed: 10_000_000, stepped: false });
    await client.login();
    expect((await client.get('/vehicle/', { includes: '' })).status).toBe(200);
  });

  it('does not turn an accelerated clock back', async () => {
    const stateFile = join(folder, 'clock.jsonl');
    const startAt = Date.parse('2026-01-05T12:00:00Z');
    const options = { stateFile, speed: 100_000, startAt, stepped: false };
    const first = await openSandbox(options);
    const before = first.sandbox.clock.now();
    await first.sandbox.close();
    await using second = await openSandbox(options);
    expect(second.sandbox.clock.mode).toBe('accelerated');
    expect(second.sandbox.clock.now()).toBeGreaterThanOrEqual(before);
  });
});
