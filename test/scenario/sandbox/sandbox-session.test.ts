import { describe, expect, it } from 'vitest';
import { DAY, openSandbox, type SandboxClient } from './sandbox-client.ts';

const VEHICLES = { includes: '' };
const MINUTE = 60_000;

const renew = (client: SandboxClient, bearer: string | undefined, body?: unknown) =>
  client.raw('/auth/token/', {
    method: 'POST',
    headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
    body: body === undefined ? undefined : JSON.stringify(body),
  });

describe('login', () => {
  it('requires all four parts to match', async () => {
    await using client = await openSandbox();
    for (const part of ['username', 'parent_username', 'password', 'realm']) {
      const body = JSON.stringify({ ...client.sandbox.credentials, [part]: 'other' });
      expect((await client.raw('/auth/login/', { method: 'POST', body })).status).toBe(401);
    }
    expect(client.sandbox.ledger()).toMatchObject({ logins: 1, logins_rejected: 4 });
  });

  it('gives a token that expires on the sandbox’s clock', async () => {
    await using client = await openSandbox();
    expect((await client.get('/vehicle/', VEHICLES)).status).toBe(200);
    await client.advance(16 * MINUTE);
    expect((await client.get('/vehicle/', VEHICLES)).status).toBe(401);
  });

  it('does not accept a refresh token as an access token', async () => {
    await using client = await openSandbox();
    const { refresh_token } = await client.login();
    const headers = { authorization: `Bearer ${refresh_token}` };
    expect((await client.raw('/vehicle/?includes=', { headers })).status).toBe(401);
  });

  it('is rejected once the password has been revoked, while tokens stay valid', async () => {
    await using client = await openSandbox();
    await client.admin('credentials', { password: 'changed' });
    const body = JSON.stringify(client.sandbox.credentials);
    expect((await client.raw('/auth/login/', { method: 'POST', body })).status).toBe(401);
    expect((await client.get('/vehicle/', VEHICLES)).status).toBe(200);
  });
});

describe('renewal', () => {
  it.each([
    ['refresh-bearer', [200, 401, 401]],
    ['access-bearer', [401, 200, 401]],
    ['body', [401, 401, 200]],
    ['any', [200, 200, 200]],
    ['none', [404, 404, 404]],
  ] as const)('in mode %s answers %j to refresh bearer, access bearer and body', async (renewal, expected) => {
    await using client = await openSandbox({ renewal });
    const { access_token, refresh_token } = await client.login();
    await client.advance(20 * MINUTE);
    const replies = [
      await renew(client, refresh_token),
      await renew(client, access_token),
      await renew(client, undefined, { refresh_token }),
    ];
    expect(replies.map((reply) => reply.status)).toEqual(expected);
    const granted = expected.filter((status) => status === 200).length;
    expect(client.sandbox.ledger().renewals).toBe(granted);
    for (const reply of replies.filter((one) => one.status === 200)) {
      expect(Object.keys(reply.json)).toEqual(['access_token', 'user']);
    }
  });

  it('ends with the refresh token’s life', async () => {
    await using client = await openSandbox();
    const { access_token, refresh_token } = await client.login();
    await client.advance(DAY);
    expect((await renew(client, refresh_token)).status).toBe(401);
    expect((await renew(client, access_token)).status).toBe(401);
    expect(client.sandbox.ledger().renewals_rejected).toBe(2);
  });

  it('returns a new refresh token and invalidates the old one when they rotate', async () => {
    await using client = await openSandbox({ rotateRefresh: true });
    const { refresh_token } = await client.login();
    const renewed = await renew(client, refresh_token);
    expect((await renew(client, refresh_token)).status).toBe(401);
    expect((await renew(client, renewed.json.refresh_token)).status).toBe(200);
  });

  it('still works after all access tokens were expired, unless refresh tokens were too', async () => {
    await using client = await openSandbox();
    const { refresh_token } = await client.login();
    await client.admin('tokens/expire', {});
    expect((await client.get('/vehicle/', VEHICLES)).status).toBe(401);
    const { access_token } = (await renew(client, refresh_token)).json;
    const headers = { authorization: `Bearer ${access_token}` };
    expect((await client.raw('/vehicle/?includes=', { headers })).status).toBe(200);
    await client.admin('tokens/expire', { refresh: true });
    expect((await renew(client, refresh_token)).status).toBe(401);
  });
});
