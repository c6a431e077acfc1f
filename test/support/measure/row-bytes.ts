// Bytes that a row of each table takes in a warehouse, its share of the indexes included: the sizes of
// `roadbook plan` come from here. The rows are those that the real jobs pull from a sandbox.
//   node test/support/measure/row-bytes.ts 60 10    vehicles, days; prints a table for each engine
import { DatabaseSync } from 'node:sqlite';
import { loadJobs } from '../../../src/app/app.ts';
import { tables } from '../../../src/warehouse/schema/catalog.ts';
import { stopPostgres } from '../databases/postgres.ts';
import { makeRig, type Rig } from '../pull/rig.ts';
import { type EngineName, rowsOf } from '../warehouse/engines.ts';

export interface RowBytes {
  rows: number;
  bytes: number;
}

/** By table, those with rows alone. */
export async function measureRowBytes(
  engine: EngineName,
  { vehicles, days }: { vehicles: number; days: number },
): Promise<Map<string, RowBytes>> {
  const rig = await makeRig({
    startAt: '2026-03-20T15:00:00.000Z',
    sandbox: { vehicles, churn: false },
    engine,
  });
  try {
    for (const { name, into, options } of await loadJobs()) {
      if (into !== undefined) await rig.run(name, 'since' in options.shape ? { since: `${days}d` } : {});
    }
    const sizes = await (engine === 'sqlite' ? sqliteSizes(rig) : postgresSizes(rig));
    const measured = new Map<string, RowBytes>();
    for (const { name } of tables) {
      const [{ n } = {}] = await rig.rows(`select count(*) as n from "${name}"`);
      const rows = Number(n);
      if (rows > 0) measured.set(name, { rows, bytes: (sizes.get(name) ?? 0) / rows });
    }
    return measured;
  } finally {
    await rig.close();
  }
}

async function sqliteSizes({ settings }: Rig): Promise<Map<string, number>> {
  const database = new DatabaseSync(settings.file ?? '', { readOnly: true });
  const found = database
    .prepare(
      'select tbl_name as name, sum(pgsize) as bytes from dbstat join sqlite_schema using (name) group by tbl_name',
    )
    .all();
  database.close();
  return new Map(found.map(({ name, bytes }) => [String(name), Number(bytes)]));
}

async function postgresSizes({ engine }: Rig): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const { name } of tables) {
    const [found] = await engine.read((sql) =>
      rowsOf<{ bytes: string }>(
        sql,
        `select sum(pg_total_relation_size(relid)) as bytes from pg_partition_tree('"${name}"')
         union all select pg_total_relation_size('"${name}"') order by 1 desc nulls last limit 1`,
      ),
    );
    sizes.set(name, Number(found?.bytes ?? 0));
  }
  return sizes;
}

if (import.meta.main) {
  const [vehicles = 60, days = 10] = process.argv.slice(2).map(Number);
  for (const engine of ['sqlite', 'postgres'] as const) {
    const measured = await measureRowBytes(engine, { vehicles, days });
    const lines = [...measured].map(([name, { rows, bytes }]) => `| ${name} | ${rows} | ${Math.round(bytes)} |`);
    process.stdout.write(`| ${engine} | rows | bytes a row |\n|---|---|---|\n${lines.join('\n')}\n\n`);
  }
  await stopPostgres();
}
