// The examples of the pages about ERPs: those of MariaDB, PostgreSQL, HTTP and files run as printed, from the orders to the
// outcomes of stops; those of SQL Server and Oracle are valid configurations.
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import knex from 'knex';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { FeedSettings } from '../../../src/erp/sources.ts';
import { hasMariadb, sharedMariadb } from '../../support/databases/mariadb.ts';
import { startPostgres, stopPostgres } from '../../support/databases/postgres.ts';
import { makePushPlace } from '../../support/push/push-place.ts';
import { parse } from '../../unit/config/config-declarations.ts';

const HOUR_MS = 3_600_000;
/** For `now()` of the database: the time of the simulated service. */
const NOW = "timestamp '2025-03-12 15:00:00'";

const page = (name: string): string =>
  readFileSync(resolve(import.meta.dirname, `../../../docs/how-to/${name}.md`), 'utf8');
const examples = (name: string, language: string): string[] =>
  [...page(name).matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text);
const example = (name: string, language: string): string => examples(name, language).at(-1) ?? '';

const feedOf = (name: string, ERP_DATABASE_URL = ''): FeedSettings => feedIn(example(name, 'yaml'), ERP_DATABASE_URL);
const feedIn = (yaml: string, ERP_DATABASE_URL = ''): FeedSettings =>
  parse(yaml, { ERP_DATABASE_URL, ERP_PASSWORD: 'x', ERP_TOKEN: 'token' }).config.erp.route_plans as FeedSettings;

afterAll(stopPostgres);

describe.each([
  ['erp-mysql', 'mysql2', hasMariadb, async () => (await sharedMariadb()).newDatabase()],
  ['erp-postgresql', 'pg', true, async () => (await startPostgres()).newDatabase()],
] as const)('%s', (name, client, isHere, newDatabase) => {
  it.skipIf(!isHere)('has its orders pushed, corrected, also during a run, acknowledged and returned', async () => {
    const connection = await newDatabase();
    const erp = knex({ client, connection });
    onTestFinished(() => erp.destroy());
    for (const statement of example(name, 'sql').split(';').slice(0, -1)) await erp.raw(statement);
    const times = { starts_at: '2025-03-13 08:00:00', ends_at: '2025-03-13 18:00:00' };
    await erp('orders').insert([1, 2, 3].map((number) => ({ number, ...times })));
    const past = { starts_at: '2025-03-05 08:00:00', ends_at: '2025-03-05 18:00:00' };
    await erp('orders').insert({ number: 4, ...past, roadbook_state: 'rejected' });
    const stop = { position: 1, customer: 'Padaria São João', street: 'Rua Um, 1' };
    await erp('stops').insert([
      { order_number: 1, ...stop },
      // Without a place, so that they are rejected.
      { order_number: 2, ...stop, street: null },
      { order_number: 3, ...stop, street: null },
      { order_number: 4, ...stop, street: null },
    ]);
    const correct = (order_number: number) => erp('stops').where({ order_number }).update({ street: 'Rua Dois, 2' });
    const feed = feedIn(example(name, 'yaml').replace('now()', NOW), connection);
    const place = await makePushPlace({
      feeds: { route_plans: feed },
      // The run has read its feed by then, and has acknowledged nothing.
      answering: async (url) => void (url.pathname.endsWith('/route_plan') && (await correct(3))),
    });
    const states = () => erp('orders').where(times).orderBy('number').pluck('roadbook_state');

    expect(await place.run('push-route-plans')).toMatchObject({ records: 3, sent: 1, confirmed: 1, rejected: 2 });
    expect(await states()).toEqual(['confirmed', 'rejected', 'rejected']);
    expect(await place.run('push-route-plans')).toMatchObject({ status: 'ok', sent: 1, confirmed: 1 });
    expect(await states()).toEqual(['confirmed', 'rejected', 'confirmed']);

    await correct(2);
    expect(await place.run('push-route-plans')).toMatchObject({ status: 'ok', sent: 1, confirmed: 1 });
    expect(await states()).toEqual(['confirmed', 'confirmed', 'confirmed']);
    expect(await place.run('push-route-plans')).toMatchObject({ records: 0 });
    expect(place.sandbox.ledger().plans).toEqual({ 1: 1, 2: 1, 3: 1 });
    const answer = await fetch(`${place.sandbox.url}/_sandbox/truth/route_plans?from=2025-03-13&to=2025-03-14`);
    expect(((await answer.json()) as { date_time_start: string }[])[0]?.date_time_start).toBe('2025-03-13T11:00:00Z');

    await place.clock.advance(60 * HOUR_MS);
    const { status, sent } = await place.run('return-executions');
    expect([status, sent]).toEqual(['ok', 3]);
    expect(await erp('stops').whereNotNull('status').pluck('order_number')).toHaveLength(3);
  });
});

it.each(['erp-sql-server', 'erp-oracle'])('%s has a valid feed', (name) => {
  expect(feedOf(name)).toMatchObject({ source: 'sql', acknowledge: expect.stringContaining(':external_code') });
});

it('erp-http has its order read, acknowledged and returned', async () => {
  const received: Record<string, unknown[]> = {};
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') received[request.url ?? ''] = Object.values((await json(request)) as object)[1];
    else response.write(example('erp-http', 'json').replaceAll('2026-11-18', '2025-03-13'));
    response.end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const feed = feedIn(example('erp-http', 'yaml').replaceAll('https://erp.example.com', url));
  const place = await makePushPlace({ feeds: { route_plans: feed } });
  expect(await place.run('push-route-plans')).toMatchObject({ status: 'ok', sent: 1, confirmed: 1 });
  expect(place.sandbox.ledger().plans).toEqual({ 1001: 1 });
  expect(received['/api/roadbook/outcomes']).toMatchObject([
    { external_code: '1001', period_start: '2025-03-13T11:00:00.000Z', state: 'confirmed' },
  ]);
  await place.clock.advance(60 * HOUR_MS);
  expect(await place.run('return-executions')).toMatchObject({ status: 'ok', sent: 2 });
  expect(received['/api/roadbook/stops']).toMatchObject([
    { plan_external_code: '1001', point_external_code: '1001/1' },
    { plan_external_code: '1001', point_external_code: '1001/2' },
  ]);
});

it('erp-files has the plan of its export delivered, with a result beside the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-erp-'));
  writeFileSync(join(folder, 'viagens.csv'), example('erp-files', 'csv').replaceAll('18/11/2026', '13/03/2025'));
  const feed = feedIn(example('erp-files', 'yaml').replace('/srv/erp/outgoing', folder));
  const place = await makePushPlace({ feeds: { route_plans: { ...feed, settleMs: 0 } as FeedSettings } });
  expect(await place.run('push-route-plans')).toMatchObject({ status: 'ok', sent: 1, confirmed: 1 });
  expect(place.sandbox.ledger().plans).toEqual({ 'V-1001': 1 });
  expect(readdirSync(join(folder, 'done')).some((name) => name.endsWith('.result.csv'))).toBe(true);
});
