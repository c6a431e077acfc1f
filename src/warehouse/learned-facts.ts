// Reads and writes one small fact by name; it outlives the process.

import type { Clock } from '../core/clock.ts';
import { isoInstant } from '../core/clock.ts';
import type { Engine } from './engine.ts';

export interface FactMemory<T> {
  read(): Promise<T | undefined>;
  write(fact: T): Promise<void>;
}

export const factMemory = <T>(engine: Engine, clock: Clock, name: string): FactMemory<T> => ({
  read: () =>
    engine.read(async (sql) => {
      const row = await sql('sync_state').where({ name }).first('value');
      return row === undefined ? undefined : (JSON.parse(row.value) as T);
    }),
  write: async (fact) => {
    const value = JSON.stringify(fact);
    await engine.write(({ sql }) =>
      sql('sync_state')
        .insert({ name, value, updated_at: isoInstant(clock.now()) })
        .onConflict('name')
        .merge(),
    );
  },
});
