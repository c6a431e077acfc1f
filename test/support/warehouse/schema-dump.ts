// Writes down the schema that a new database gets, as statements, for each engine: the schema of a release.
//   node test/support/warehouse/schema-dump.ts    writes test/fixtures/schemas/<version>/<engine>.sql
// Run once for a release, at its commit, and never again for the same version.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Knex } from 'knex';
import pkg from '../../../package.json' with { type: 'json' };
import type { Engine } from '../../../src/warehouse/engine.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { stopPostgres } from '../databases/postgres.ts';
import { engineCases } from './engines.ts';

export const SCHEMAS = resolve(import.meta.dirname, '../../fixtures/schemas');
/** Between two statements of a file. */
export const NEXT = ';\n\n';

/** The same engine, with `before` called for each statement of a transaction that is given as text. */
export const withStatements = (engine: Engine, before: (statement: string) => Promise<void>): Engine => ({
  ...engine,
  write: (work) =>
    engine.write((tx) => {
      const raw = async (statement: string, ...rest: Knex.RawBinding[][]) => {
        await before(statement);
        return rest.length === 0 ? tx.sql.raw(statement) : tx.sql.raw(statement, ...(rest as [Knex.RawBinding[]]));
      };
      const sql = new Proxy(tx.sql, {
        get: (target, name) => (name === 'raw' ? raw : Reflect.get(target, name)),
      });
      return work({ ...tx, sql });
    }),
});

export const isChange = (statement: string): boolean => !/^\s*select/i.test(statement);

async function dump(): Promise<void> {
  const folder = join(SCHEMAS, pkg.version);
  mkdirSync(folder, { recursive: true });
  for (const { name, make } of engineCases) {
    const place = await make();
    const engine = await place.open();
    const statements: string[] = [];
    await bringSchemaUpToDate(
      withStatements(engine, async (statement) => void (isChange(statement) && statements.push(statement.trim()))),
    );
    writeFileSync(join(folder, `${name}.sql`), statements.join(NEXT).concat(NEXT));
    await engine.close();
    await place.remove();
  }
  await stopPostgres();
}

if (import.meta.main) await dump();
