// The ERP's notifications are stored by one statement, on every engine.
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { type NotifiedStop, notifiedStops, pushReturn } from '../../../src/warehouse/outbox/returns.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { engineCases } from '../../support/warehouse/engines.ts';

afterAll(stopPostgres);

const stop = (n: number, change: Partial<NotifiedStop> = {}): NotifiedStop => ({
  plan_external_code: 'P',
  code_use: 1,
  point_external_code: String(n).padStart(4, '0'),
  status: 'E',
  executed_at: '2025-03-13T12:00:00.000Z',
  outcome_hash: 'h',
  told_at: '2025-03-14T12:00:00.000Z',
  run_id: 'run-1',
  ...change,
});
const stops = (count: number, change: Partial<NotifiedStop> = {}): NotifiedStop[] =>
  Array.from({ length: count }, (_, n) => stop(n, change));

it.each(engineCases)('1,000 stops take one statement, and one again: $name', async ({ make }) => {
  const place = await make();
  const engine = await place.open();
  onTestFinished(async () => {
    await engine.close();
    await place.remove();
  });
  await bringSchemaUpToDate(engine);
  const store = (rows: readonly NotifiedStop[]): Promise<string[]> =>
    engine.write(async (tx) => {
      const statements: string[] = [];
      tx.sql.on('query', (query: { sql: string }) => statements.push(query.sql));
      await tx.store(pushReturn, rows);
      return [...statements];
    });
  const stored = async () =>
    (await engine.read((sql) => notifiedStops(sql, ['P']))).toSorted((a, b) =>
      a.point_external_code < b.point_external_code ? -1 : 1,
    );

  expect(await store(stops(1_000))).toHaveLength(1);
  expect(await stored()).toEqual(stops(1_000));
  const pending = { status: 'P', executed_at: null, outcome_hash: 'other', run_id: 'run-2' };
  expect(await store(stops(801, pending))).toHaveLength(1);
  expect(await stored()).toEqual([...stops(801, pending), ...stops(1_000).slice(801)]);
  await store([stop(0, { code_use: 2 })]);
  expect(await stored()).toHaveLength(1_001);
});
