// Reads and writes one small fact by name; it outlives the process.
import { isoInstant } from '../core/clock.ts';
import type { Engine } from './engine.ts';

export interface FactMemory<T> {
  read(): Promise<T | undefined>;
  write(fact: T, nowMs: number): Promise<void>;
}

export const factMemory = <T>(engine: Engine, name: string): FactMemory<T> => ({
  read: () =>
    engine.read(async (sql) => {
      const row = await sql('sync_state').where({ name }).first('value');
      return row === undefined ? undefined : (JSON.parse(row.value) as T);
    }),
  write: async (fact, nowMs) => {
    const row = { name, value: JSON.stringify(fact), updated_at: isoInstant(nowMs) };
    await engine.write(({ sql }) => sql('sync_state').insert(row).onConflict('name').merge());
  },
});
