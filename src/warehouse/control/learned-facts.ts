// Small facts by name. They survive a restart of the process.
import type { Knex } from 'knex';
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { controlTable, instant, json, text } from '../schema/table.ts';

export const syncState = controlTable({
  name: 'sync_state',
  meaning: 'Facts learned at run time, kept across restarts.',
  key: ['name'],
  columns: {
    name: text('What the fact is about.'),
    value: json('The fact.', { required: true }),
    updated_at: instant('When the fact was stored.', { required: true }),
  },
});

export const readFact = <T>(engine: Pick<Engine, 'read'>, name: string): Promise<T | undefined> =>
  engine.read((sql) => factIn<T>(sql, name));

/** Part of the caller's read or transaction. */
export async function factIn<T>(sql: Knex, name: string): Promise<T | undefined> {
  const row = await sql('sync_state').where({ name }).first('value');
  return row === undefined ? undefined : (JSON.parse(row.value) as T);
}

/** Part of the caller's transaction. */
export async function writeFact({ sql }: { sql: Knex }, name: string, fact: unknown, nowMs: number): Promise<void> {
  const row = { name, value: JSON.stringify(fact), updated_at: isoInstant(nowMs) };
  await sql('sync_state').insert(row).onConflict('name').merge();
}

/** The facts whose names begin with `beginning`, which is a LIKE pattern: `_` and `%` are wildcards. */
export async function factsNamed<T>(sql: Knex, beginning: string): Promise<T[]> {
  const rows = await sql('sync_state').where('name', 'like', `${beginning}%`).orderBy('name').select('value');
  return rows.map(({ value }) => JSON.parse(value) as T);
}

export async function deleteFact(sql: Knex, name: string): Promise<void> {
  await sql('sync_state').where({ name }).delete();
}

export const factMemory = <T>(engine: Engine, name: string) => ({
  read: () => readFact<T>(engine, name),
  write: (fact: T, nowMs: number) => engine.write((tx) => writeFact(tx, name, fact, nowMs)),
  /** Reads and writes in one transaction, so that no concurrent change is lost. */
  update: (change: (fact: T | undefined) => Promise<T>, nowMs: number): Promise<T> =>
    engine.write(async (tx) => {
      const next = await change(await factIn<T>(tx.sql, name));
      await writeFact(tx, name, next, nowMs);
      return next;
    }),
});
