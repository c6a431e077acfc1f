// The engines that the conformance suite runs over, each in a place of its own.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Knex } from 'knex';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { postgres } from '../../../src/warehouse/engines/postgres/engine.ts';
import { sqlite } from '../../../src/warehouse/engines/sqlite/engine.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { type Postgres, startPostgres } from '../databases/postgres.ts';

export type EngineName = 'sqlite' | 'postgres';

/** A new, empty database; `open` may be called again for a second process's view of it. */
export interface EnginePlace {
  open(): Promise<Engine>;
  remove(): Promise<void>;
  /** `warehouse` of a configuration that leads to it. */
  settings: Record<string, string>;
  /** Another place with the same content; nobody may have this one open meanwhile. */
  copy(): Promise<EnginePlace>;
}

export interface EngineCase {
  name: EngineName;
  make(): Promise<EnginePlace>;
}

const allCases: readonly EngineCase[] = [
  { name: 'sqlite', make: async () => sqlitePlace() },
  {
    name: 'postgres',
    async make() {
      const server = await startPostgres();
      return postgresPlace(server, await server.newDatabase());
    },
  },
];

/** All of them, unless `TEST_ENGINES` names those that a run is about. */
export const engineCases = allCases.filter(({ name }) => process.env.TEST_ENGINES?.split(',').includes(name) ?? true);

function sqlitePlace(): EnginePlace {
  const dir = mkdtempSync(join(tmpdir(), 'roadbook-engine-'));
  const file = join(dir, 'warehouse.db');
  return {
    settings: { engine: 'sqlite', file },
    open: () => sqlite.open({ file }),
    remove: async () => rmSync(dir, { recursive: true, force: true }),
    async copy() {
      const copy = sqlitePlace();
      cpSync(dir, dirname(copy.settings.file as string), { recursive: true });
      return copy;
    },
  };
}

const postgresPlace = (server: Postgres, url: string): EnginePlace => ({
  settings: { engine: 'postgres', url, schema: 'fleet' },
  open: () => postgres.open({ url, schema: 'fleet' }),
  remove: () => server.dropDatabase(url),
  copy: async () => postgresPlace(server, await server.newDatabase(url)),
});

export const makePlace = (name: EngineName): Promise<EnginePlace> => {
  const found = allCases.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no engine ${name}`);
  return found.make();
};

/**
 * One with the schema, copied from one that is made once: the schema takes longer than most tests. Of SQLite the bytes are
 * kept, and of PostgreSQL a database of the server, so that nothing is left behind.
 */
export async function makePlaceWithSchema(name: EngineName): Promise<EnginePlace> {
  if (name === 'postgres') {
    const server = await startPostgres();
    const original =
      databases.get(server.url) ??
      makePlace(name)
        .then(withSchema)
        .then(({ settings }) => settings.url ?? '');
    databases.set(server.url, original);
    return postgresPlace(server, await server.newDatabase(await original));
  }
  file ??= withSchema(sqlitePlace()).then(async (original) => {
    const bytes = readFileSync(original.settings.file ?? '');
    await original.remove();
    return bytes;
  });
  const place = sqlitePlace();
  writeFileSync(place.settings.file ?? '', await file);
  return place;
}

let file: Promise<Buffer> | undefined;
/** By server. */
const databases = new Map<string, Promise<string>>();

async function withSchema(place: EnginePlace): Promise<EnginePlace> {
  const engine = await place.open();
  await bringSchemaUpToDate(engine);
  await engine.close();
  return place;
}

/** The rows of a statement of the test's own, in one shape for all drivers. */
export async function rowsOf<Row = Record<string, unknown>>(sql: Knex, statement: string): Promise<Row[]> {
  const result = await sql.raw(statement);
  return Array.isArray(result) ? result : result.rows;
}
