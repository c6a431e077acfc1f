// A whole ERP on PostgreSQL, connected by configuration alone: its orders are pushed once, acknowledged in its own
// tables, and the outcomes of its stops are returned to them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import knex, { type Knex } from 'knex';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startPostgres, stopPostgres } from '../../support/databases/postgres.ts';
import { addOrder, feedOf, makeErp } from '../../support/erp/postgres-erp.ts';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';

const PUSH = 'push-route-plans';
const RETURN = 'return-executions';
const ORDERS = 25;
const HOUR_MS = 3_600_000;

afterAll(stopPostgres);

async function openErp(change?: (config: string) => string): Promise<{ place: PushPlace; erp: Knex }> {
  const url = await (await startPostgres()).newDatabase();
  const erp = knex({ client: 'pg', connection: url });
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-erp-'));
  onTestFinished(async () => {
    await erp.destroy();
    rmSync(folder, { recursive: true, force: true });
  });
  await makeErp(erp, ORDERS);
  return { erp, place: await makePushPlace({ feeds: { route_plans: await feedOf(folder, url, change) } }) };
}

const ordersOf = (erp: Knex) => erp('logistica.pedidos').orderBy('numero');
const stopsOf = (erp: Knex) => erp('logistica.paradas').orderBy(['pedido', 'sequencia']);
interface Point {
  external_code: string;
  status: string;
  return_date: string | null;
}

/** Each stop by its code, as it was pulled from the service. */
const pointsOf = async ({ engine }: PushPlace): Promise<Map<string, Point>> => {
  const points: Point[] = await engine.read((sql) =>
    sql('route_point as p')
      .leftJoin('route_point_execution as e', 'e.route_point_id', 'p.id')
      .whereNotNull('p.external_code')
      .orderBy('e.id')
      .select('p.external_code', 'p.status', 'e.return_date'),
  );
  return new Map(points.map((point) => [point.external_code, point]));
};
const once = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [String(i + 1), 1]));

describe('an ERP on PostgreSQL', () => {
  it('has each order pushed once and acknowledged, however often it is offered', async () => {
    const { place, erp } = await openErp();
    expect(await place.run(PUSH)).toMatchObject({ status: 'ok', sent: ORDERS, confirmed: ORDERS });
    expect(place.sandbox.ledger().plans).toEqual(once(ORDERS));
    const acknowledged = await ordersOf(erp);
    const outbox = await place.outbox();
    for (const { numero, estado_envio, id_roteiro, retorno_envio } of acknowledged) {
      const entry = outbox.find(({ external_code }) => external_code === String(numero));
      expect([estado_envio, id_roteiro, retorno_envio]).toEqual(['confirmed', String(entry?.remote_id), null]);
    }
    expect(new Set(acknowledged.map(({ id_roteiro }) => id_roteiro)).size).toBe(ORDERS);

    expect(await place.run(PUSH)).toMatchObject({ status: 'ok', sent: 0 });
    await erp('logistica.pedidos').update({ estado_envio: null, id_roteiro: null });
    await place.clock.advance(HOUR_MS);
    expect(await place.run(PUSH)).toMatchObject({ status: 'ok', sent: 0 });
    expect(place.sandbox.ledger().plans).toEqual(once(ORDERS));
    expect(await ordersOf(erp)).toEqual(acknowledged);
  });

  it('has its columns mapped by meaning: wall clocks, numbers, words and items', async () => {
    const { place } = await openErp();
    await place.run(PUSH);
    const answer = await fetch(`${place.sandbox.url}/_sandbox/truth/route_plans?from=2025-03-13&to=2025-03-14`);
    const plans = (await answer.json()) as Record<string, unknown>[];
    expect(plans.find(({ external_code }) => external_code === '7')).toMatchObject({
      date_time_start: '2025-03-13T11:00:00Z',
      date_time_end: '2025-03-13T21:00:00Z',
      route_points: [
        { name: 'Depósito', type: 'PA', order: 1, external_code: '7/1', latitude: -23.5, longitude: -46.6 },
        {
          name: 'Padaria São João',
          type: 'PE',
          order: 2,
          external_code: '7/2',
          address: 'Rua Um, 1',
          route_point_items: [
            { external_code: '3500000001', quantity: 2.5 },
            { external_code: '3500000002', quantity: 2.5 },
          ],
        },
      ],
    });
  });

  it('finds the reason of a rejected order in its own table, and the others are sent', async () => {
    const { place, erp } = await openErp();
    await addOrder(erp, 99, { retorno: '2025-03-13 07:00', placa: 'XX' });
    expect(await place.run(PUSH)).toMatchObject({ sent: ORDERS, confirmed: ORDERS, rejected: 1 });
    expect(place.sandbox.ledger().plans).toEqual(once(ORDERS));
    const [rejected] = await erp('logistica.pedidos').where({ numero: 99 });
    expect(rejected).toMatchObject({ estado_envio: 'rejected', id_roteiro: null });
    expect(rejected.retorno_envio).toMatch(/date_time_end: .*vehicle_plate: |vehicle_plate: .*date_time_end: /s);
  });

  it('gets the outcome of each stop once, as the service has it', async () => {
    const { place, erp } = await openErp();
    await place.run(PUSH);
    await place.clock.advance(60 * HOUR_MS);
    const { status, sent } = await place.run(RETURN);
    expect(status).toBe('ok');
    await place.run('pull-route-plans');
    const truth = await pointsOf(place);
    const stops = await stopsOf(erp);
    const returned = stops.filter(({ situacao }) => situacao !== null);
    expect(returned.length).toBe(sent);
    expect(returned.length).toBeGreaterThan(ORDERS);
    for (const { pedido, sequencia, situacao, realizada_em, fotos } of returned) {
      const { status: shown, return_date } = truth.get(`${pedido}/${sequencia}`) ?? {};
      expect([situacao, realizada_em]).toEqual([shown, return_date && new Date(return_date)]);
      expect(fotos).toBeInstanceOf(Array);
    }
    expect(returned.some(({ realizada_em }) => realizada_em !== null)).toBe(true);
    expect(await place.run(RETURN)).toMatchObject({ sent: 0, unchanged: sent });
    await place.engine.write(({ sql }) => sql('push_return').delete());
    expect(await place.run(RETURN)).toMatchObject({ sent });
    expect(await stopsOf(erp)).toEqual(stops);
  });

  it('gets a plain error for a query that fails, and nothing is sent', async () => {
    const { place } = await openErp((config) => config.replace('logistica.itens', 'logistica.itenz'));
    const { error } = await place.run(PUSH);
    expect(error).toMatchObject({
      code: 'erp_statement_rejected',
      message: expect.stringMatching(/no table logistica\.itenz \(query, 42P01\)/),
    });
    expect(place.sandbox.ledger().plans).toEqual({});
  });

  it('is not taken for well if its query lacks a required column', async () => {
    const { place } = await openErp((config) =>
      config
        .replace('select ', 'select 1 as sobra, ')
        .replace(/plan\.date_time_start: \S+/, 'plan.date_time_start: nenhuma'),
    );
    expect(await place.run(PUSH)).toMatchObject({ sent: 0, error: { code: 'feed_unreadable' } });
  });

  it('may reject an acknowledgement: no value of it is shown, all others are made, and it is retried', async () => {
    const { place, erp } = await openErp();
    await erp.raw(
      "alter table logistica.pedidos add constraint um check (numero::text <> '3' or estado_envio is distinct from 'confirmed')",
    );
    const { status, error } = await place.run(PUSH);
    expect([status, error?.message]).toEqual(['partial', expect.stringMatching(/acknowledge, 23514/)]);
    expect(place.lines.join('\n') + JSON.stringify(error)).not.toMatch(/Failing row|update logistica/);
    const unacknowledged = (await ordersOf(erp)).filter(({ estado_envio }) => estado_envio !== 'confirmed');
    expect(unacknowledged.map(({ numero }) => String(numero))).toEqual(['3']);
    await erp.raw('alter table logistica.pedidos drop constraint um');
    expect(await place.run(PUSH)).toMatchObject({ status: 'ok', sent: 0 });
    expect((await ordersOf(erp)).every(({ estado_envio }) => estado_envio === 'confirmed')).toBe(true);
    expect(place.sandbox.ledger().plans).toEqual(once(ORDERS));
  });
});
