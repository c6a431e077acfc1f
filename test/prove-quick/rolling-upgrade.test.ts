// Old and new daemons share a warehouse during a deploy: after the upgrade everything that a release wrote
// and read by name still works. Each change that a migration must not make is tried, and has to be detected.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Engine } from '../../src/warehouse/engine.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema/converge.ts';
import { lookups } from '../../src/warehouse/schema/lookups.ts';
import type { Migration } from '../../src/warehouse/schema/migrations/migration.ts';
import { migrations } from '../../src/warehouse/schema/migrations.ts';
import {
  type KnownTable,
  knownTables,
  oldDaemonFaults,
  plantedRows,
  plantRows,
} from '../support/daemons/old-daemon.ts';
import { stopPostgres } from '../support/databases/postgres.ts';
import { type EngineName, makePlace } from '../support/warehouse/engines.ts';
import { NEXT, SCHEMAS } from '../support/warehouse/schema-dump.ts';

afterAll(stopPostgres);

/** The database that a release left, and the columns that the release knew. */
async function released(release: string, engineName: EngineName): Promise<{ engine: Engine; known: KnownTable[] }> {
  const place = await makePlace(engineName);
  const engine = await place.open();
  onTestFinished(async () => {
    await engine.close();
    await place.remove();
  });
  const statements = readFileSync(join(SCHEMAS, release, `${engineName}.sql`), 'utf8').split(NEXT);
  await engine.write(async ({ sql }) => {
    for (const statement of statements.filter((each) => each !== '')) await sql.raw(statement);
  });
  return { engine, known: await knownTables(engine) };
}

/** Statements that would break an old daemon, and the message of the failure. */
const FORBIDDEN: readonly [string, EngineName, string, RegExp][] = [
  ['a required column', 'postgres', 'alter table vehicle add column brand text not null', /insert into vehicle/],
  ['a column that is gone', 'sqlite', 'alter table push_attempt drop column outcome', /read push_attempt/],
  ['a renamed column', 'sqlite', 'alter table push_attempt rename column outcome to ending', /read push_attempt/],
  ['a renamed table', 'sqlite', 'alter table push_attempt rename to push_try', /insert into push_attempt/],
  ['another type', 'postgres', 'alter table push_attempt alter outcome type date using null', /insert into/],
  ['another key', 'postgres', 'alter table push_attempt drop constraint push_attempt_pkey', /insert into push_attempt/],
];

/**
 * What daemons of a release can no longer do after the upgrade; the CHANGELOG says to stop all of them first. A new key
 * cannot exist beside the old one, and the outbox has fewer columns.
 */
const BROKEN: Record<string, readonly string[]> = {
  '0.1.0': [
    'insert into push_attempt',
    'read push_outbox',
    'insert into push_outbox',
    'update push_outbox',
    'insert into push_return',
  ],
};
/** Tables that lose columns: test/prove-quick/outbox-upgrade.test.ts tests their rows. */
const NARROWED: Record<string, readonly string[]> = { '0.1.0': ['push_outbox'] };

describe.each(readdirSync(SCHEMAS))('a daemon of release %s', (release) => {
  it.each(['sqlite', 'postgres'] as const)('continues to work after the upgrade: %s', async (engineName) => {
    const { engine, known } = await released(release, engineName);
    expect(known.length).toBeGreaterThan(20);
    await plantRows(engine, known);
    const before = await plantedRows(engine, known);
    await bringSchemaUpToDate(engine);
    const after = await plantedRows(engine, known);
    // Every start writes the code lists.
    for (const { table } of lookups) delete after[table.name];
    for (const name of NARROWED[release] ?? []) delete after[name];
    expect(before).toMatchObject(after);
    const faults = (await oldDaemonFaults(engine, known)).map((fault) => fault.split(':')[0]);
    expect(faults).toEqual(BROKEN[release] ?? []);
  });

  it.each(FORBIDDEN)('is seen to fail by %s: %s', async (_what, engineName, statement, words) => {
    const { engine, known } = await released(release, engineName);
    await bringSchemaUpToDate(engine);
    await engine.write(async ({ sql }) => {
      for (const { name } of known.filter(({ isView }) => isView)) await sql.raw(`drop view "${name}"`);
      await sql.raw(statement);
    });
    const tables = known.filter(({ isView }) => !isView);
    expect((await oldDaemonFaults(engine, tables)).join('\n')).toMatch(words);
  });

  it('is seen to lose the column that a migration renames', async () => {
    const { engine, known } = await released(release, 'sqlite');
    await plantRows(engine, known);
    const before = await plantedRows(engine, known);
    const rename = 'alter table push_attempt rename column outcome to ending';
    const step: Migration = { name: '9999-01-01 test', up: async (sql) => void (await sql.raw(rename)) };
    await bringSchemaUpToDate(engine, [...migrations, step]);
    const { push_attempt } = await plantedRows(engine, known);
    expect(push_attempt).not.toEqual(before.push_attempt);
  });
});
