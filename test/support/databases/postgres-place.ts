// A database on the embedded server for each test of a file that calls useDatabase, connections to it that close with the
// test, and rows for it.
import knex, { type Knex } from 'knex';
import { afterAll, beforeEach, expect, onTestFinished } from 'vitest';
import type { Engine, Row } from '../../../src/warehouse/engine.ts';
import { postgres } from '../../../src/warehouse/engines/postgres/engine.ts';
import { rowMapping } from '../../../src/warehouse/load/row-mapping.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { metadataAt } from '../warehouse/load-metadata.ts';
import { startPostgres, stopPostgres } from './postgres.ts';

export let url: string;
export let admin: Knex;

export function useDatabase(): void {
  beforeEach(async () => {
    url = await (await startPostgres()).newDatabase();
    admin = connect(url);
  });
  afterAll(stopPostgres);
}

export async function open(address: string, schema = 'fleet'): Promise<Engine> {
  const engine = await postgres.open({ url: address, schema });
  onTestFinished(() => engine.close());
  return engine;
}

export function connect(address: string): Knex {
  const database = knex({ client: 'pg', connection: address });
  onTestFinished(() => database.destroy());
  return database;
}

export const failureOf = (work: Promise<unknown>): Promise<Error & { code?: string }> =>
  work.then(
    () => expect.fail('nothing was thrown'),
    (thrown) => thrown,
  );

export const metadata = metadataAt('run-1', '2026-01-01T00:00:00.000Z');

const toVehicle = rowMapping(vehicle);
export const vehicles = (count: number): Row[] =>
  Array.from({ length: count }, (_, id) => (toVehicle({ id, title: `V${id}` }) as { row: Row }).row);
