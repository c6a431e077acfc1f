// The script that a user would write instead: got, JSON.parse, knex insert on conflict merge, 500 rows a statement, the whole
// record kept beside a few columns. `indexed` gives its table the indexes that the warehouse has, without which it would
// not answer the same questions.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import knex, { type Knex } from 'knex';
import { event } from '../../../src/warehouse/tables/event.ts';
import type { Task } from '../task.ts';
import { readAll, type WireEvent } from './bodies.ts';

const ROWS = 500;

export async function script(task: Task): Promise<number> {
  const database = await open(task);
  const count = await readAll(task, async (events) => {
    const rows = events.map(rowOf);
    for (let start = 0; start < rows.length; start += ROWS) {
      await database('script_event')
        .insert(rows.slice(start, start + ROWS) as never)
        .onConflict(['event_category', 'id'])
        .merge();
    }
  });
  await database.destroy();
  return count;
}

/** Beside the warehouse that `settings` name, so that a second run finds the table of the first. */
async function open({ way, engine, settings }: Task): Promise<Knex> {
  const dir = dirname(settings.file ?? '');
  mkdirSync(dir, { recursive: true });
  const database =
    engine === 'sqlite'
      ? knex({
          client: 'sqlite3',
          connection: { filename: join(dir, 'script.db') },
          useNullAsDefault: true,
        })
      : knex({ client: 'pg', connection: settings.url ?? '', pool: { min: 0, max: 4 } });
  if (engine === 'sqlite') {
    await database.raw('pragma journal_mode = wal');
    await database.raw('pragma synchronous = normal');
  }
  if (way === 'scriptAgain') return database;
  const [number, instant] = engine === 'sqlite' ? ['integer', 'text'] : ['bigint', 'timestamptz'];
  await database.raw(`create table script_event (event_category ${number}, id ${number}, begin_date ${instant},
    end_date ${instant}, distance ${number}, vehicle_id ${number}, vehicle_plate text, driver_id ${number},
    driver_name text, raw text, primary key (event_category, id))`);
  for (const { columns } of way === 'indexed' ? event.indexes : []) {
    // The script stores no local day; its instant takes as much work.
    const own = columns.map((name) => (name === '_day' ? 'begin_date' : name));
    await database.schema.alterTable('script_event', (table) => table.index(own));
  }
  return database;
}

const rowOf = (each: WireEvent) => ({
  event_category: each.event_category,
  id: each.id,
  begin_date: each.begin_date,
  end_date: each.end_date,
  distance: each.distance,
  vehicle_id: each.vehicle?.id,
  vehicle_plate: each.vehicle?.plate,
  driver_id: each.driver?.id,
  driver_name: each.driver?.name,
  raw: JSON.stringify(each),
});
