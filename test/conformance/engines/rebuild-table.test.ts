// A control table is rebuilt from its declaration: with another key and one column less, it keeps every row.
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { rebuildTable } from '../../../src/warehouse/schema/migrations/rebuild-table.ts';
import { controlTable, integer, text } from '../../../src/warehouse/schema/table.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { engineCases, rowsOf } from '../../support/warehouse/engines.ts';

const before = controlTable({
  name: 'sample',
  meaning: 'A table.',
  key: ['code'],
  columns: { code: text('Code.'), gone: text('No longer declared.'), note: text('Note.') },
});
const after = controlTable({
  name: 'sample',
  meaning: 'A table.',
  key: ['code', 'use'],
  columns: { code: text('Code.'), use: integer('Use.'), note: text('Note.'), later: text('Later.') },
});

afterAll(stopPostgres);

describe.each(engineCases)('on $name', ({ make }) => {
  async function opened(): Promise<Engine> {
    const place = await make();
    const engine = await place.open();
    onTestFinished(async () => {
      await engine.close();
      await place.remove();
    });
    await engine.write(({ sql }) => engine.prepareSchema(sql));
    return engine;
  }

  const rebuilt = (engine: Engine) =>
    engine.write(({ sql }) => rebuildTable(sql, engine, after, { use: '1', note: "'not taken'" }));

  it('keeps the rows, fills new required columns, and has the declared key', async () => {
    const engine = await opened();
    await engine.write(async ({ sql }) => {
      for (const statement of engine.createStatements(before)) await sql.raw(statement);
      await sql('sample').insert([
        { code: 'a', gone: 'x', note: 'one' },
        { code: 'b', gone: 'y', note: null },
      ]);
    });
    await rebuilt(engine);
    expect(await engine.read((sql) => sql('sample').orderBy('code'))).toEqual([
      { code: 'a', use: 1, note: 'one', later: null },
      { code: 'b', use: 1, note: null, later: null },
    ]);
    const add = (row: object) => engine.write(({ sql }) => sql('sample').insert(row));
    await add({ code: 'a', use: 2 });
    await expect(add({ code: 'a', use: 2 })).rejects.toThrow(/unique|sample_pkey/i);
  });

  it('can be repeated, and leaves an absent table to its declaration', async () => {
    const engine = await opened();
    await rebuilt(engine);
    expect(await engine.read((sql) => engine.columnsOf(sql, 'sample'))).toBeUndefined();
    await engine.write(async ({ sql }) => {
      for (const statement of engine.createStatements(after)) await sql.raw(statement);
      await sql('sample').insert({ code: 'a', use: 3 });
    });
    await rebuilt(engine);
    await rebuilt(engine);
    expect(await engine.read((sql) => rowsOf(sql, 'select code, "use" from sample'))).toEqual([{ code: 'a', use: 3 }]);
  });
});
