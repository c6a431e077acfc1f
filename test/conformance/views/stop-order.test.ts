// Of several executions of one stop, the latest that has not vanished counts, on every database: engines differ in where
// they sort nulls.
import knex, { type Knex } from 'knex';
import { afterAll, expect, test } from 'vitest';
import { outcomesOf } from '../../../src/sync/returns/stop-outcome.ts';
import { pulledStops } from '../../../src/warehouse/outbox/returns.ts';
import { startPostgres, stopPostgres } from '../../support/databases/postgres.ts';
import { openDatabase } from '../../support/process/workplace.ts';

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
        'create table route_point (id int, route_plan_id int, external_code text, status text, _missing_since text)',
      );
      await database.raw(`create table route_point_execution (id int, route_point_id int, return_date text, pictures text,
      signature_img text, hodometer_picture text, route_return_reason_name text, route_executed_reason_name text, _missing_since text)`);
      const gone = { _missing_since: '2025-03-14T00:00:00.000Z' };
      await database('route_point').insert(
        [
          { id: 1, route_plan_id: 7, external_code: 'S', status: 'E' },
          { id: 2, route_plan_id: 7, external_code: 'T', status: 'E', ...gone },
          { id: 3, route_plan_id: 8, external_code: 'U', status: 'E', ...gone },
          { id: 4, route_plan_id: 9, external_code: 'V', status: 'E' },
        ].map((point) => ({ _missing_since: null, ...point })),
      );
      const dates = ['2025-03-13T10:00:00.000Z', '2025-03-13T12:00:00.000Z', null, '2025-03-13T12:00:00.000Z'];
      await database('route_point_execution').insert(
        dates.map((return_date, i) => ({
          id: i + 1,
          route_point_id: 1,
          return_date,
          pictures: `${i + 1}.jpg`,
        })),
      );
      const later = { id: 5, return_date: '2025-03-13T13:00:00.000Z', pictures: '5.jpg', ...gone };
      const lost = { id: 6, return_date: '2025-03-13T13:00:00.000Z', pictures: '6.jpg', ...gone };
      await database('route_point_execution').insert([
        { route_point_id: 1, ...later },
        { route_point_id: 4, ...lost },
      ]);
      const pulled = await pulledStops(database, [6, 7, 8, 9]);
      expect([...pulled.keys()].sort()).toEqual([7, 8, 9]);
      expect(pulled.get(8)).toEqual([]);
      const rows = pulled.get(7) ?? [];
      expect(rows.map(({ pictures }) => pictures)).toEqual(['3.jpg', '1.jpg', '2.jpg', '4.jpg']);
      const plan = { external_code: 'P', period_start: null };
      expect(outcomesOf(plan, rows)).toMatchObject([{ executedAt: dates[1], pictures: ['4.jpg'] }]);
      expect(pulled.get(9)).toMatchObject([{ external_code: 'V', return_date: null, pictures: null }]);
    } finally {
      await database.destroy();
    }
  },
);
