// Reads and writes one small fact by name; it outlives the process.
import { isoInstant } from '../core/clock.ts';
import type { Engine, Transaction } from './engine.ts';

export interface FactMemory<T> {
  read(): Promise<T | undefined>;
  write(fact: T, nowMs: number): Promise<void>;
}

export const readFact = <T>(engine: Pick<Engine, 'read'>, name: string): Promise<T | undefined> =>
  engine.read(async (sql) => {
    const row = await sql('sync_state').where({ name }).first('value');
    return row === undefined ? undefined : (JSON.parse(row.value) as T);
  });

/** Together with what else the transaction writes. */
export async function writeFact(
  { sql }: Transaction,
  name: string,
  fact: unknown,
  nowMs: number,
): Promise<void> {
  const row = { name, value: JSON.stringify(fact), updated_at: isoInstant(nowMs) };
  await sql('sync_state').insert(row).onConflict('name').merge();
}

export const factMemory = <T>(engine: Engine, name: string): FactMemory<T> => ({
  read: () => readFact<T>(engine, name),
  write: (fact, nowMs) => engine.write((tx) => writeFact(tx, name, fact, nowMs)),
});
