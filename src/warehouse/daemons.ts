// The daemons as rows. On a server all instants are the server's: the clocks of the machines may differ.
import type { Knex } from 'knex';
import { type Clock, isoInstant } from '../core/clock.ts';
import type { Engine } from './engine.ts';
import { type ClockGap, measureGap } from './server-clock.ts';

export interface DaemonRow {
  id: string;
  host: string;
  pid: number;
  version: string;
  started_at: string;
  heartbeat_at: string;
  slices_done: number;
  slices_per_minute: number;
}

/** A daemon that has been silent for longer is not believed to live. */
export const SILENT_MS = 20_000;
/** A row that has been silent for longer is removed. */
const GONE_MS = 600_000;

const TABLE = 'sync_daemon';

type Work<T> = (sql: Knex, now: () => Promise<number>) => Promise<T>;

/** Beside the writer where the engine can, so that a long load makes nobody look dead. */
const turn = <T>(engine: Engine, clock: Clock, work: Work<T>): Promise<T> =>
  engine.beside?.(work) ?? engine.write(({ sql }) => work(sql, async () => clock.now()));

/**
 * Tells that this daemon lives, and removes those that have been silent for long; gives when it was told, and how far this
 * machine's clock is from the one that this went by.
 */
export const tellDaemon = (
  engine: Engine,
  clock: Clock,
  daemon: Omit<DaemonRow, 'heartbeat_at' | 'started_at'> & { started_at?: string },
): Promise<{ at: string; gap: ClockGap }> =>
  turn(engine, clock, async (sql, now) => {
    const gap = await measureGap(clock, now);
    const at = isoInstant(gap.serverMs);
    const row = { started_at: at, ...daemon, heartbeat_at: at };
    await sql(TABLE).insert(row).onConflict('id').merge();
    await sql(TABLE)
      .where('heartbeat_at', '<', isoInstant(gap.serverMs - GONE_MS))
      .del();
    return { at, gap };
  });

export const forgetDaemon = (engine: Engine, clock: Clock, id: string): Promise<void> =>
  turn(engine, clock, async (sql) => {
    await sql(TABLE).where({ id }).del();
  });

/** Every daemon, the oldest first, and whether it is silent. */
export async function readDaemons(
  engine: Engine,
  clock: Clock,
): Promise<(DaemonRow & { isSilent: boolean })[]> {
  const nowMs = (await engine.beside?.((_, now) => now())) ?? clock.now();
  const rows: DaemonRow[] = await engine.read((sql) => sql(TABLE).orderBy(['started_at', 'id']));
  return rows.map((row) => ({ ...row, isSilent: nowMs - Date.parse(row.heartbeat_at) > SILENT_MS }));
}
