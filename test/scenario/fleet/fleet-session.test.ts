// The session against the sandbox over HTTP: few logins, one renewal at a time, no token in any text.
import { describe, expect, it, onTestFinished } from 'vitest';
import { Fatal, Retriable } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { login } from '../../../src/fleet/endpoints/login.ts';
import { renew } from '../../../src/fleet/endpoints/renew.ts';
import { vehicles } from '../../../src/fleet/endpoints/vehicles.ts';
import type { SessionMemory } from '../../../src/fleet/session/session-memory.ts';
import { drive, failureOf, NOON, openBoth, openFleet } from '../../support/fleet/fleet-setup.ts';
import { startFront } from '../../support/fleet/front.ts';

const SOME = { includes: ['fleet' as const] };
const MINUTE = 60_000;

describe('the session', () => {
  it('login: one login for any number of concurrent calls, also with one slot', async () => {
    const { fleet, sandbox } = await openBoth({}, { concurrency: 1 });
    expect(fleet.session()).toEqual({ state: 'none', expires_at: null });
    await Promise.all(Array.from({ length: 10 }, () => fleet.call(vehicles, SOME)));
    expect(sandbox.ledger()).toMatchObject({ logins: 1, requests: { [login.name]: 1, vehicles: 10 } });
    expect(fleet.session()).toMatchObject({ state: 'active', expires_at: expect.stringMatching(/Z$/) });
  });

  it('50 calls on an expired token: one renewal, 50 successes', async () => {
    const { fleet, sandbox, admin } = await openBoth({}, { concurrency: 50 });
    await fleet.call(vehicles, SOME);
    await admin('/tokens/expire', {});
    const results = await Promise.all(Array.from({ length: 50 }, () => fleet.call(vehicles, SOME)));
    expect(results).toHaveLength(50);
    expect(sandbox.ledger()).toMatchObject({ logins: 1, renewals: 1, renewals_rejected: 0 });
  });

  it.each(['refresh-bearer', 'body', 'access-bearer'] as const)(
    'renew: auto finds %s, remembers it, and tries no other way again',
    async (renewal) => {
      const { fleet, sandbox, admin, memory } = await openBoth({ renewal });
      await fleet.call(vehicles, SOME);
      await admin('/tokens/expire', {});
      await fleet.call(vehicles, SOME);
      const { renewals_rejected } = sandbox.ledger();
      // The body variant carries the access token too, so it is found first.
      const found = renewal === 'access-bearer' ? 'body' : renewal;
      expect(await memory.read()).toMatchObject({ renewal: found });
      await admin('/tokens/expire', {});
      await fleet.call(vehicles, SOME);
      expect(sandbox.ledger()).toMatchObject({ logins: 1, renewals: 2, renewals_rejected });
      const second = openFleet(sandbox.url, sandbox, { memory });
      await second.fleet.call(vehicles, SOME);
      await admin('/tokens/expire', {});
      await second.fleet.call(vehicles, SOME);
      expect(sandbox.ledger()).toMatchObject({ logins: 2, renewals: 3, renewals_rejected });
    },
  );

  it.each(['refresh-bearer', 'body', 'access-bearer'] as const)(
    'renew: the configured way %s is the only one',
    async (way) => {
      const { fleet, sandbox, admin } = await openBoth({ renewal: way }, { settings: { renewal: way } });
      await fleet.call(vehicles, SOME);
      await admin('/tokens/expire', {});
      await fleet.call(vehicles, SOME);
      expect(sandbox.ledger()).toMatchObject({ logins: 1, renewals: 1, renewals_rejected: 0 });
    },
  );

  it('renew: logs in again when renewal is impossible or set to login', async () => {
    const none = await openBoth({ renewal: 'none' });
    const set = await openBoth({}, { settings: { renewal: 'login' } });
    for (const { fleet, admin } of [none, set]) {
      for (let i = 0; i < 3; i++) {
        await fleet.call(vehicles, SOME);
        await admin('/tokens/expire', {});
      }
    }
    expect(none.sandbox.ledger()).toMatchObject({ logins: 3, requests: { [renew.name]: 3 } });
    expect(set.sandbox.ledger()).toMatchObject({ logins: 3, renewals: 0 });
    expect(set.sandbox.ledger().requests[renew.name]).toBeUndefined();
  });

  it('renew: a new refresh token replaces the old one; an expired one leads to a login', async () => {
    const { fleet, sandbox, admin } = await openBoth({ rotateRefresh: true, renewal: 'refresh-bearer' });
    for (let i = 0; i < 3; i++) {
      await fleet.call(vehicles, SOME);
      await admin('/tokens/expire', {});
    }
    await fleet.call(vehicles, SOME);
    expect(sandbox.ledger()).toMatchObject({ logins: 1, renewals: 3, renewals_rejected: 0 });
    await admin('/tokens/expire', { refresh: true });
    await fleet.call(vehicles, SOME);
    expect(sandbox.ledger()).toMatchObject({ logins: 2, renewals: 3, renewals_rejected: 1 });
  });

  it('renew: happens before expiry, by the lifetime of the token, even when the local clock is wrong', async () => {
    const clock = createManualClock(NOON + 400 * 24 * 60 * MINUTE);
    const { fleet, sandbox } = await openBoth({ stepped: true }, { clock });
    await drive(clock, fleet.call(vehicles, SOME));
    await clock.advance(13 * MINUTE);
    await drive(clock, fleet.call(vehicles, SOME));
    expect(sandbox.ledger().renewals).toBe(0);
    await clock.advance(1.1 * MINUTE);
    await drive(clock, fleet.call(vehicles, SOME));
    expect(sandbox.ledger()).toMatchObject({ logins: 1, renewals: 1 });
    expect(sandbox.ledger().requests_by_status).toEqual({ 200: 5 });
  });

  it('a failed early renewal fails no call', async () => {
    const clock = createManualClock(NOON);
    const { fleet, sandbox } = await openBoth({ stepped: true }, { clock });
    await drive(clock, fleet.call(vehicles, SOME));
    await clock.advance(14.1 * MINUTE);
    sandbox.addFault({ call: 'renew', fault: '500' });
    sandbox.addFault({ call: 'login', fault: '500' });
    await drive(clock, fleet.call(vehicles, SOME));
    expect(sandbox.ledger().requests.vehicles).toBe(2);
  });

  it.each(['429', '503'] as const)(
    'renew: on %s the client waits for the service and tries no other way',
    async (fault) => {
      const { fleet, sandbox, admin } = await openBoth();
      await fleet.call(vehicles, SOME);
      await admin('/tokens/expire', {});
      sandbox.addFault({ call: 'renew', fault, retry_after: 'seconds', seconds: 0, times: 4 });
      await fleet.call(vehicles, SOME);
      expect(sandbox.ledger()).toMatchObject({ logins: 1, renewals: 1, requests: { renew: 5 } });
    },
  );

  it('a wrong password is final after exactly one login', async () => {
    const { fleet, sandbox } = await openBoth({}, { settings: { password: 'wrong-password' } });
    const failures = await Promise.all([1, 2, 3].map(() => failureOf(fleet.call(vehicles, SOME))));
    for (const failure of failures) expect(failure).toMatchObject({ code: 'login_refused', name: 'Fatal' });
    expect(sandbox.ledger()).toMatchObject({ requests: { login: 1 }, logins_rejected: 1 });
    expect(fleet.session()).toEqual({ state: 'rejected', expires_at: null });
  });

  it('a revoked password: three logins at most, also across restarts, until the cool-down or a change', async () => {
    const clock = createManualClock(NOON);
    const { fleet, sandbox, admin, memory } = await openBoth({ stepped: true }, { clock });
    await drive(clock, fleet.call(vehicles, SOME));
    await admin('/credentials', { password: 'changed-meanwhile' });
    await admin('/tokens/expire', { refresh: true });
    const failLogin = async (client = fleet) => await failureOf(drive(clock, client.call(vehicles, SOME)));
    for (let i = 0; i < 5; i++) expect(await failLogin()).toMatchObject({ code: 'login_refused' });
    expect(sandbox.ledger().renewals_rejected, 'a session that is over is not renewed again').toBe(3);
    const restarted = openFleet(sandbox.url, sandbox, { clock, memory }).fleet;
    const blocked = await failLogin(restarted);
    expect(blocked).toBeInstanceOf(Fatal);
    expect(blocked.hint).toContain('after 2025-03-12T15:3');
    expect(sandbox.ledger()).toMatchObject({ logins: 1, logins_rejected: 3 });
    expect(JSON.stringify(await memory.read())).not.toContain(sandbox.credentials.password);

    await clock.advance(31 * MINUTE);
    await failLogin();
    await failLogin();
    expect(sandbox.ledger().logins_rejected).toBe(4);

    const settings = { password: 'changed-meanwhile' };
    const corrected = openFleet(sandbox.url, sandbox, { clock, memory, settings }).fleet;
    await drive(clock, corrected.call(vehicles, SOME));
    expect(sandbox.ledger()).toMatchObject({ logins: 2, logins_rejected: 4 });
    expect((await memory.read())?.refused).toBeUndefined();
  });

  it('rejections recorded by a clock that was ahead block no login once the clock is set back', async () => {
    let aheadMs = 24 * 60 * MINUTE;
    const clock = { ...systemClock, now: () => Date.now() + aheadMs };
    const { fleet, sandbox } = await openBoth({}, { clock, settings: { password: 'wrong-password' } });
    const failLogin = async (times: number) => {
      for (let i = 0; i < times; i++)
        expect(await failureOf(fleet.call(vehicles, SOME))).toMatchObject({ code: 'login_refused' });
    };
    await failLogin(3);
    aheadMs = 0;
    await failLogin(2);
    expect(sandbox.ledger().logins_rejected, 'one, and then none until the cool-down').toBe(4);
  });

  it('a fault at login is retriable and does not count as a rejection', async () => {
    const { fleet, sandbox, memory } = await openBoth();
    sandbox.addFault({ call: 'login', fault: '500', times: 2 });
    sandbox.addFault({ call: 'login', fault: 'reset-before-commit', times: 1, skip: 2 });
    const failure = await failureOf(fleet.call(vehicles, SOME));
    expect(failure).toBeInstanceOf(Retriable);
    await fleet.call(vehicles, SOME);
    expect(await memory.read()).toBeUndefined();
    expect(sandbox.ledger().requests.login).toBe(4);
  });

  it('an address without a login is a final error that says so', async () => {
    const { fleet, sandbox } = await openBoth();
    sandbox.addFault({ call: 'login', fault: '404' });
    expect(await failureOf(fleet.call(vehicles, SOME))).toMatchObject({
      name: 'Fatal',
      code: 'login_unavailable',
    });
    expect(sandbox.ledger().requests.login).toBe(1);
  });

  it('a call that is still rejected with fresh tokens is unauthorised', async () => {
    const { fleet, sandbox } = await openBoth();
    sandbox.addFault({ call: 'vehicles', fault: '401' });
    expect(await failureOf(fleet.call(vehicles, SOME))).toMatchObject({
      name: 'Fatal',
      code: 'unauthorised',
    });
    expect(sandbox.ledger()).toMatchObject({ logins: 2, renewals: 1, requests: { vehicles: 3 } });
  });

  it('tokens that expire while a call waits for its slot are replaced without counting against it', async () => {
    const clock = createManualClock(NOON);
    const { fleet, sandbox } = await openBoth({ clock, accessTokenTtlMs: 20_000 }, { clock });
    sandbox.addFault({ call: 'vehicles', fault: '429', seconds: 30, times: 4 });
    const calls = [1, 2, 3, 4, 5, 6].map(() => fleet.call(vehicles, SOME));
    expect(await drive(clock, Promise.all(calls), 1_000)).toHaveLength(6);
    expect(sandbox.ledger().logins).toBe(1);
  });

  it('tokens that expire faster than a call can be sent are replaced a limited number of times', async () => {
    const clock = createManualClock(NOON);
    const { sandbox } = await openBoth({}, { clock });
    const front = await startFront(sandbox.url, (url) => {
      if (url.pathname === '/vehicle/') clock.set(60 * MINUTE);
      return undefined;
    });
    onTestFinished(() => front.close());
    sandbox.addFault({ call: 'vehicles', fault: '401', times: 20 });
    const { fleet } = openFleet(front.url, sandbox, { clock });
    expect(await failureOf(drive(clock, fleet.call(vehicles, SOME)))).toMatchObject({ code: 'unauthorised' });
    expect(sandbox.ledger().requests).toMatchObject({ vehicles: 5 });
  });

  it('no log line or error contains a token or a password', async () => {
    const password = 'quite-a-secret';
    const { fleet, sandbox, admin, lines } = await openBoth({ credentials: { password } });
    await fleet.call(vehicles, SOME);
    await admin('/tokens/expire', { refresh: true });
    await fleet.call(vehicles, SOME);
    sandbox.addFault({ call: 'vehicles', fault: 'reset-before-commit' });
    const failure = await failureOf(fleet.call(vehicles, SOME));
    const { inspect } = await import('node:util');
    const everything = lines.join('\n') + inspect(failure, { depth: 20, showHidden: true });
    expect(everything).toContain('GET /vehicle/');
    expect(everything).not.toMatch(/eyJ|quite-a-secret|Bearer/);
  });

  it('a failing token store does not stop the session', async () => {
    const memory: SessionMemory = {
      read: () => Promise.reject(new Error('down')),
      update: () => Promise.reject(new Error('down')),
    };
    const { fleet, sandbox, admin } = await openBoth({ renewal: 'body' }, { memory });
    for (let i = 0; i < 3; i++) {
      await fleet.call(vehicles, SOME);
      await admin('/tokens/expire', {});
    }
    expect(sandbox.ledger()).toMatchObject({ logins: 1, renewals: 2, renewals_rejected: 1 });
  });
});
