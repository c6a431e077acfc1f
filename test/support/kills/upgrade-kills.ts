// Kills a start while it brings a database to the declared schema, at each statement that changes something. For
// PostgreSQL a kill is a session that ends; for SQLite it is the files as they are on the disk in that instant.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import knex, { type Knex } from 'knex';
import { expect, onTestFinished } from 'vitest';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { sqlite } from '../../../src/warehouse/engines/sqlite/engine.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import type { Migration } from '../../../src/warehouse/schema/migrations/migration.ts';
import type { EnginePlace } from '../warehouse/engines.ts';
import { isChange, withStatements } from '../warehouse/schema-dump.ts';

export interface UpgradeKills {
  place: EnginePlace;
  steps: readonly Migration[];
  /** Statements at which a start dies; default all that change something. */
  at?: (statement: string) => boolean;
  /** Called after each death on PostgreSQL, with the database that it left. */
  unchanged(engine: Engine): Promise<void>;
}

/** Opens the databases that the kills have left. */
export const killedUpgrades = (kills: UpgradeKills): Promise<(() => Promise<Engine>)[]> =>
  kills.place.settings.engine === 'sqlite' ? snapshots(kills) : brokenOff(kills);

const isMet = (statement: string, { at = () => true }: UpgradeKills): boolean => isChange(statement) && at(statement);

async function snapshots(kills: UpgradeKills): Promise<(() => Promise<Engine>)[]> {
  const { place, steps } = kills;
  const file = place.settings.file ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-killed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const opens: (() => Promise<Engine>)[] = [];
  const engine = await place.open();
  const snapshot = async (statement: string): Promise<void> => {
    if (!isMet(statement, kills)) return;
    const copy = join(folder, String(opens.length));
    cpSync(dirname(file), copy, { recursive: true });
    opens.push(() => sqlite.open({ file: join(copy, 'warehouse.db') }));
  };
  await bringSchemaUpToDate(withEveryStatement(engine, snapshot), steps);
  await engine.close();
  return opens;
}

/** One after another on the same database: each attempt gets one statement further. */
async function brokenOff(kills: UpgradeKills): Promise<(() => Promise<Engine>)[]> {
  const { place, steps, unchanged } = kills;
  const admin = knex({ client: 'pg', connection: place.settings.url ?? '' });
  onTestFinished(() => admin.destroy());
  const endSessions = () =>
    admin.raw(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'roadbook' and datname = current_database()",
    );
  for (let last = 1, done = false; !done; last++) {
    const engine = await place.open();
    let met = 0;
    const dying = withEveryStatement(engine, async (statement) => {
      if (isMet(statement, kills) && ++met === last) await endSessions();
    });
    done = await bringSchemaUpToDate(dying, steps).then(
      () => true,
      (error) => {
        expect(error.code).toBe('warehouse_unreachable');
        return false;
      },
    );
    await engine.close();
    if (done) continue;
    const left = await place.open();
    await unchanged(left);
    await left.close();
  }
  return [place.open];
}

/** As `withStatements`, and for the statements that are built too. */
function withEveryStatement(engine: Engine, before: (statement: string) => Promise<void>): Engine {
  const waiting = (query: Knex.QueryBuilder): Knex.QueryBuilder =>
    new Proxy(query, {
      get: (target, name, self) =>
        name === 'then'
          ? (...ends: Parameters<typeof query.then>) =>
              before(target.toString()).then(() => Reflect.apply(target.then, target, ends))
          : Reflect.get(target, name, self),
    });
  const built = (sql: Knex): Knex =>
    new Proxy(sql, { apply: (target, self, table) => waiting(Reflect.apply(target, self, table)) });
  return withStatements(
    { ...engine, write: (work) => engine.write((tx) => work({ ...tx, sql: built(tx.sql) })) },
    before,
  );
}
