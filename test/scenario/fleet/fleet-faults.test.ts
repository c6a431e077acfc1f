// Failures between client and service, over real HTTP: every fault is a clear error, attempts and pauses
// follow the policy, and the sandbox's ledger confirms it.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Retriable } from '../../../src/core/errors.ts';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { events } from '../../../src/fleet/endpoints/events.ts';
import { pointsOfInterest } from '../../../src/fleet/endpoints/points-of-interest.ts';
import { vehicles } from '../../../src/fleet/endpoints/vehicles.ts';
import { drive, failureOf, NOON, openBoth, openFleet, QUICK_RETRY } from '../../support/fleet/fleet-setup.ts';

const SOME = { includes: ['fleet' as const] };

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('faults', () => {
  it.each([
    ['html', 'Retriable', 'bad_answer', 3],
    ['empty', 'Retriable', 'bad_answer', 3],
    ['deep', 'Retriable', 'bad_answer', 3],
    ['truncated', 'Retriable', 'connection_lost', 3],
    ['reset-before-commit', 'Retriable', 'connection_lost', 3],
    ['500', 'Retriable', 'service_failed', 3],
    ['502', 'Retriable', 'service_failed', 3],
    ['503', 'Retriable', 'service_failed', 3],
    ['huge', 'Skippable', 'body_too_large', 1],
    ['gzip-bomb', 'Skippable', 'body_too_large', 1],
    ['400', 'Skippable', 'request_rejected', 1],
    ['404', 'Skippable', 'not_found', 1],
    ['409', 'Skippable', 'conflict', 1],
    ['413', 'Skippable', 'too_large', 1],
    ['422', 'Skippable', 'request_rejected', 1],
    ['403', 'Fatal', 'forbidden', 1],
  ] as const)('%s is %s %s after %i attempts', async (fault, name, code, attempts) => {
    const { fleet, sandbox } = await openBoth();
    sandbox.addFault({ call: 'vehicles', fault, bytes: fault === 'deep' ? undefined : 9 * 1024 * 1024 });
    const failure = await failureOf(fleet.call(vehicles, SOME));
    expect(failure).toMatchObject({ name, code, hint: expect.any(String) });
    expect(failure.message).toMatch(/^GET \/vehicle\/ /);
    expect(sandbox.ledger().requests.vehicles).toBe(attempts);
  });

  it('a temporary fault is overcome, and each attempt is reported', async () => {
    const { fleet, sandbox } = await openBoth();
    sandbox.addFault({ call: 'vehicles', fault: '500', times: 1 });
    sandbox.addFault({ call: 'vehicles', fault: 'truncated', times: 1, skip: 1 });
    const reported = { requests: 0, retries: 0 };
    await fleet.call(vehicles, SOME, {
      onRequest: () => {
        reported.requests += 1;
      },
      onRetry: () => {
        reported.retries += 1;
      },
    });
    expect(reported).toEqual({ requests: 4, retries: 2 });
    expect(sandbox.ledger().requests).toEqual({ login: 1, vehicles: 3 });
  });

  it.each([
    { fault: '429', retry_after: 'seconds' },
    { fault: '429', retry_after: 'date' },
    { fault: '503', retry_after: 'seconds' },
  ] as const)('%j on one call pauses all calls and consumes no attempt', async ({ fault, retry_after }) => {
    const clock = createManualClock(NOON);
    const retry = { attempts: 1, baseMs: 1, capMs: 1, deadlineMs: 900_000 };
    const { fleet, sandbox } = await openBoth({ clock }, { clock, retry });
    await drive(clock, fleet.call(vehicles, SOME));
    sandbox.addFault({ call: 'vehicles', fault, retry_after, seconds: 60, times: 3 });
    const throttledAt = clock.now();
    const throttled = fleet.call(vehicles, SOME);
    while (sandbox.ledger().requests.vehicles !== 2 || clock.sleepers() === 0) await tick();
    const other = fleet.call(pointsOfInterest, {});
    await clock.advance(58_000);
    for (let i = 0; i < 20; i++) await tick();
    expect(sandbox.ledger().requests['points-of-interest']).toBeUndefined();
    await drive(clock, Promise.all([throttled, other]), 1_000);
    expect(clock.now() - throttledAt).toBeGreaterThanOrEqual(3 * 59_000);
    expect(sandbox.ledger().requests).toMatchObject({ vehicles: 5, 'points-of-interest': 1 });
  });

  it('a throttled call fails at its deadline', async () => {
    const clock = createManualClock(NOON);
    const { fleet, sandbox } = await openBoth({ clock }, { clock });
    sandbox.addFault({ call: 'vehicles', fault: '429', seconds: 200 });
    const failure = await failureOf(drive(clock, fleet.call(vehicles, SOME), 1_000));
    expect(failure).toMatchObject({ code: 'throttled', pauseMs: 200_000 });
    expect(sandbox.ledger().requests.vehicles).toBe(3);
  });

  it('an unreachable service is retriable, and after ten failures is not called for a while', async () => {
    const { fleet } = openFleet('http://127.0.0.1:1', undefined);
    let requests = 0;
    const onRequest = () => {
      requests += 1;
    };
    for (let i = 0; i < 6; i++) {
      const failure = await failureOf(fleet.call(vehicles, SOME, { onRequest }));
      expect(failure).toBeInstanceOf(Retriable);
      expect(failure.code).toBe('service_unreachable');
    }
    expect(requests).toBe(10);
  });

  it('a timeout is retriable', async () => {
    const retry = { ...QUICK_RETRY, attempts: 1 };
    const { fleet, sandbox } = await openBoth({}, { settings: { timeoutMs: 1_000 }, retry });
    sandbox.addFault({ call: 'vehicles', fault: 'hang' });
    expect(await failureOf(fleet.call(vehicles, SOME))).toMatchObject({
      name: 'Retriable',
      code: 'timed_out',
    });
  });

  it('a cancelled read ends with the reason of the abort', async () => {
    const { fleet, sandbox } = await openBoth();
    sandbox.addFault({ call: 'vehicles', fault: 'hang' });
    const stop = new AbortController();
    const reason = new Error('enough');
    const onRequest = () => setImmediate(() => stop.abort(reason));
    expect(await failureOf(fleet.call(vehicles, SOME, { signal: stop.signal, onRequest }))).toBe(reason);
  });

  it('a redirect to another host is not followed, and nothing is sent there', async () => {
    const visits: string[] = [];
    const elsewhere = await serve((request, response) => {
      visits.push(request.url ?? '');
      response.end('{"data":[]}');
    });
    const { fleet, sandbox } = await openBoth();
    sandbox.addFault({ call: 'vehicles', fault: 'redirect', location: `${elsewhere}/vehicle/` });
    expect(await failureOf(fleet.call(vehicles, SOME))).toMatchObject({ name: 'Fatal', code: 'redirected' });
    expect(visits).toEqual([]);
  });

  it('a redirect on the same host is followed for a read', async () => {
    const { fleet, sandbox } = await openBoth();
    sandbox.addFault({ call: 'vehicles', fault: 'redirect', location: '/vehicle/?includes=fleet', times: 1 });
    expect((await fleet.call(vehicles, SOME)).length).toBeGreaterThan(0);
  });

  it('opaque tokens, integers beyond 2^53, and null or absent lists are accepted', async () => {
    const bodies = ['{"data":[{"id":9007199254740993,"__proto__":{"polluted":1}}]}', '{"data":null}', '{}', 'null'];
    const url = await serve((request, response) => {
      if (request.url === '/auth/login/') return response.end('{"access_token":"opaque-token-1"}');
      return response.end(bodies.shift());
    });
    const { fleet, redactor } = openFleet(url, undefined);
    const [first] = await fleet.call(pointsOfInterest, {});
    expect((first as { id: unknown }).id).toBe('9007199254740993');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    for (let i = 0; i < 3; i++) expect(await fleet.call(pointsOfInterest, {})).toEqual([]);
    expect(fleet.session()).toEqual({ state: 'active', expires_at: null });
    expect(redactor.redact('token opaque-token-1')).not.toContain('opaque');
  });

  it('a JSON document that is not a list is an error, not an empty list', async () => {
    const url = await serve((request, response) =>
      response.end(request.url === '/auth/login/' ? '{"access_token":"t"}' : '{"error":"try later"}'),
    );
    const { fleet } = openFleet(url, undefined);
    expect(await failureOf(fleet.call(pointsOfInterest, {}))).toMatchObject({ code: 'bad_answer' });
  });

  it('an invalid request uses no token and no slot, and sends no byte', async () => {
    const { fleet, sandbox } = await openBoth();
    const wrong = { periods: [], event_category: 99, includes: ['nothing'] } as never;
    const failure = await failureOf(fleet.call(events, wrong));
    expect(failure).toMatchObject({ name: 'Fatal', code: 'request_invalid' });
    for (const path of ['periods', 'event_category', 'includes[0]', 'vehicles_id']) {
      expect(failure.message).toContain(`${path}: `);
    }
    expect(sandbox.ledger().requests).toEqual({});
  });

  it('closing the client ends calls in flight, and later calls fail', async () => {
    const { fleet, sandbox } = await openBoth();
    sandbox.addFault({ call: 'vehicles', fault: 'hang' });
    const hanging = fleet.call(vehicles, SOME);
    while (sandbox.ledger().requests.vehicles !== 1) await tick();
    fleet.close();
    await failureOf(hanging);
    expect(await failureOf(fleet.call(vehicles, SOME))).toMatchObject({ code: 'closed' });
  });
});

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
