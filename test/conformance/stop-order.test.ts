// Of several executions of one stop the latest counts, on every database: engines differ in where they put nulls.
import knex, { type Knex } from 'knex';
import { afterAll, expect, test } from 'vitest';
import { outcomesOfRows } from '../../src/sync/returns/stop-outcome.ts';
import { stopsOf } from '../../src/warehouse/outbox/returns.ts';
import { startPostgres, stopPostgres } from '../support/postgres.ts';
import { openDatabase } from '../support/workplace.ts';

afterAll(stopPostgres);

const databases: [string, () => Promise<Knex>][] = [
  ['SQLite', async () => openDatabase(':memory:')],
  ['PostgreSQL', async () => knex({ client: 'pg', connection: await (await startPostgres()).newDatabase() })],
];

test.each(databases)(
  'the latest execution of a stop counts, and one without a time never does: %s',
  async (_, open) => {
    const database = await open();
    try {
      await database.raw(
        'create table route_point (id int, route_plan_id int, external_code text, status text)',
      );
      await database.raw(`create table route_point_execution (id int, route_point_id int, return_date text, pictures text,
      signature_img text, hodometer_picture text, route_return_reason_name text, route_executed_reason_name text)`);
      await database('route_point').insert({ id: 1, route_plan_id: 7, external_code: 'S', status: 'E' });
      const dates = [
        '2025-03-13T10:00:00.000Z',
        '2025-03-13T12:00:00.000Z',
        null,
        '2025-03-13T12:00:00.000Z',
      ];
      await database('route_point_execution').insert(
        dates.map((return_date, i) => ({
          id: i + 1,
          route_point_id: 1,
          return_date,
          pictures: `${i + 1}.jpg`,
        })),
      );
      const rows = await stopsOf(database, [7]);
      expect(rows.map(({ pictures }) => pictures)).toEqual(['3.jpg', '1.jpg', '2.jpg', '4.jpg']);
      expect(outcomesOfRows({ external_code: 'P', period_start: null }, rows)).toMatchObject([
        { executedAt: dates[1], pictures: ['4.jpg'] },
      ]);
    } finally {
      await database.destroy();
    }
  },
);
