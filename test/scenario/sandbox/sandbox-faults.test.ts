import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { openSandbox, type SandboxClient, somePlan } from './sandbox-client.ts';

const VEHICLES = { includes: '' };
const STATUSES = ['400', '401', '403', '404', '409', '413', '422', '429', '500', '502', '503'] as const;

async function withFault(fault: Omit<Fault, 'call'>, call: Fault['call'] = 'vehicles'): Promise<SandboxClient> {
  const client = await openSandbox();
  await client.admin('faults', { call, ...fault });
  return client;
}

describe('a fault', () => {
  it.each(STATUSES)('answers %s instead of the call', async (fault) => {
    await using client = await withFault({ fault });
    expect((await client.get('/vehicle/', VEHICLES)).status).toBe(Number(fault));
  });

  it.each([
    ['seconds', '7'],
    ['date', 'Mon, 02 Mar 2026 15:00:07 GMT'],
    ['missing', null],
  ] as const)('answers 429 with Retry-After as %s', async (retry_after, expected) => {
    await using client = await withFault({ fault: '429', retry_after, seconds: 7 });
    const reply = await client.get('/vehicle/', VEHICLES);
    expect(reply.status).toBe(429);
    expect(reply.headers.get('retry-after')).toBe(expected);
  });

  it.each(['refused', 'reset-before-commit', 'reset-after-commit', 'truncated'] as const)(
    '%s breaks the connection',
    async (fault) => {
      await using client = await withFault({ fault, times: 1 });
      await expect(client.get('/vehicle/', VEHICLES)).rejects.toThrow();
      expect((await client.get('/vehicle/', VEHICLES)).status).toBe(200);
    },
  );

  it.each([
    ['html', /^<!doctype html>/],
    ['empty', /^$/],
    ['wrong-shape', /"items":"none"/],
    ['deep', /\[{1000}/],
  ] as const)('%s answers 200 with a useless body', async (fault, body) => {
    await using client = await withFault({ fault });
    const reply = await client.get('/vehicle/', VEHICLES);
    expect(reply.status).toBe(200);
    expect(reply.text).toMatch(body);
  });

  it.each(['huge', 'gzip-bomb'] as const)('%s sends the configured number of bytes', async (fault) => {
    await using client = await withFault({ fault, bytes: 3_000_000 });
    expect((await client.get('/vehicle/', VEHICLES)).text).toHaveLength(3_000_000);
  });

  it.each(['latency', 'drip'] as const)('%s delays the answer without changing it', async (fault) => {
    await using client = await withFault({ fault, ms: 1, times: 1 });
    const slow = await client.get('/vehicle/', VEHICLES);
    expect(slow.text).toBe((await client.get('/vehicle/', VEHICLES)).text);
  });

  it('redirects', async () => {
    await using client = await withFault({ fault: 'redirect', location: 'http://127.0.0.1:9/' });
    const reply = await client.get('/vehicle/', VEHICLES);
    expect([reply.status, reply.headers.get('location')]).toEqual([302, 'http://127.0.0.1:9/']);
  });

  it('hangs until the client aborts', async () => {
    await using client = await withFault({ fault: 'hang' });
    const cut = new AbortController();
    const hanging = client.raw('/vehicle/?includes=', { signal: cut.signal });
    while (client.sandbox.ledger().requests.vehicles === undefined) await client.admin('clock');
    cut.abort();
    await expect(hanging).rejects.toThrow();
  });

  it('repeats and reorders records', async () => {
    await using client = await openSandbox();
    const ids = async () => (await client.get('/vehicle/', VEHICLES)).json.data.map((one: { id: number }) => one.id);
    const plain = await ids();
    client.sandbox.addFault({ call: 'vehicles', fault: 'duplicate', times: 1 });
    expect(await ids()).toEqual([...plain, ...plain]);
    client.sandbox.addFault({ call: 'vehicles', fault: 'reordered', times: 1 });
    const other = await ids();
    expect(other).not.toEqual(plain);
    expect(other.sort()).toEqual(plain.sort());
  });

  it('leaves records out, all or half of them', async () => {
    await using client = await openSandbox();
    const count = async () => (await client.get('/vehicle/', VEHICLES)).json.data.length;
    const all = await count();
    client.sandbox.addFault({ call: 'vehicles', fault: 'fewer-records', times: 1 });
    expect(await count()).toBe(all >> 1);
    client.sandbox.addFault({ call: 'vehicles', fault: 'no-records', times: 1 });
    expect(await count()).toBe(0);
  });

  it('expires the tokens while a client works', async () => {
    await using client = await withFault({ fault: 'expired-token', times: 1, skip: 1 });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await client.get('/vehicle/', VEHICLES)).status);
    expect(statuses).toEqual([200, 401, 401]);
  });

  it('revokes the password until it is changed', async () => {
    await using client = await withFault({ fault: 'revoked-password', times: 1 }, 'login');
    expect(await client.login()).not.toHaveProperty('access_token');
    expect(await client.login()).not.toHaveProperty('access_token');
    expect(client.sandbox.ledger().logins_rejected).toBe(2);
    await client.admin('credentials', { password: 'demo' });
    expect(await client.login()).toHaveProperty('access_token');
  });
});

describe('a fault on a write', () => {
  it.each([
    ['refused', {}, 0],
    ['reset-before-commit', {}, 0],
    ['reset-after-commit', {}, 1],
    ['truncated', {}, 1],
    ['empty', {}, 1],
    ...STATUSES.flatMap((status) => [[status, {}, 0] as const, [status, { after_commit: true }, 1] as const]),
    ['redirect', {}, 0],
    ['redirect', { after_commit: true }, 1],
    ['latency', { ms: 1 }, 1],
  ] as const)('%s %j leaves %i plans', async (fault, settings, plans) => {
    await using client = await withFault({ fault, ...settings }, 'import-route-plan');
    await client.send('POST', '/import/route_plan', somePlan('X')).catch(() => undefined);
    expect(client.sandbox.ledger().plans.X ?? 0).toBe(plans);
    const found = (await client.get('/import/route_plan', { route_plan_code: 'X' })).json.data;
    expect(found).toHaveLength(plans);
  });
});

describe('a write that hangs', () => {
  it.each([
    [false, 0],
    [true, 1],
  ])('with after_commit %s leaves %i plans when the client aborts', async (after_commit, plans) => {
    await using client = await withFault({ fault: 'hang', after_commit }, 'import-route-plan');
    const cut = new AbortController();
    const { access_token } = await client.login();
    const hanging = client.raw('/import/route_plan', {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}` },
      body: JSON.stringify(somePlan('H')),
      signal: cut.signal,
    });
    const isUnderWay = () =>
      after_commit ? client.sandbox.ledger().plans.H : client.sandbox.ledger().requests['import-route-plan'];
    while (isUnderWay() === undefined) await client.admin('clock');
    cut.abort();
    await expect(hanging).rejects.toThrow();
    expect(client.sandbox.ledger().plans.H ?? 0).toBe(plans);
  });
});

describe('the choice of requests', () => {
  it('skips the first, applies as often as configured, and leaves other calls alone', async () => {
    await using client = await withFault({ fault: '503', skip: 2, times: 1 });
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await client.get('/vehicle/', VEHICLES)).status);
    expect(statuses).toEqual([200, 200, 503, 200]);
    expect((await client.get('/point_of_interest/')).status).toBe(200);
    expect(client.sandbox.ledger().faults_injected).toEqual({ '503': 1 });
  });

  it('follows a rate, the same way each time', async () => {
    const struck = async () => {
      await using client = await withFault({ fault: '503', rate: 0.3 }, '*');
      const statuses: number[] = [];
      for (let i = 0; i < 60; i++) statuses.push((await client.get('/vehicle/', VEHICLES)).status);
      return statuses.map((status) => status === 503);
    };
    const first = await struck();
    const count = first.filter(Boolean).length;
    expect(count).toBeGreaterThan(8);
    expect(count).toBeLessThan(30);
    expect(await struck()).toEqual(first);
  });

  it('is listed, cleared, and rejected when it names nothing', async () => {
    await using client = await withFault({ fault: '503' });
    expect(await client.admin('faults')).toEqual([{ call: 'vehicles', fault: '503', struck: 0 }]);
    const rejected = await client.raw('/_sandbox/faults', {
      method: 'POST',
      body: '{"call":"trucks","fault":"503"}',
    });
    expect(rejected.status).toBe(422);
    await client.raw('/_sandbox/faults', { method: 'DELETE' });
    expect((await client.get('/vehicle/', VEHICLES)).status).toBe(200);
  });
});
