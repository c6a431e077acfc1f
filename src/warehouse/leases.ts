// The leases as rows. Whoever changes one names the token and the beat it has seen, so that of several processes
// one succeeds. A lease that changes hands takes the runs of its former holder with it: they are abandoned.
import type { Knex } from 'knex';
import { Fatal } from '../core/errors.ts';
import type { Engine } from './engine.ts';
import type { ProcessIdentity } from './this-process.ts';

export interface Lease {
  name: string;
  token: number;
}

export interface LeaseRow extends Lease {
  holder: string | null;
  host: string | null;
  pid: number | null;
  place: string | null;
  beat: number;
  taken_at: string | null;
  heartbeat_at: string | null;
}

const TABLE = 'sync_lease';

export const readLeases = (engine: Engine): Promise<LeaseRow[]> => engine.read((sql) => sql(TABLE));

/** The lease, or the row of whoever has it. */
export async function takeLease(
  sql: Knex,
  name: string,
  { holder, host, pid, place }: ProcessIdentity,
  at: string,
): Promise<{ lease: Lease } | { heldBy: LeaseRow }> {
  const own = { holder, host, pid, place, taken_at: at, heartbeat_at: at };
  await sql(TABLE).insert({ name, token: 0, beat: 0 }).onConflict('name').ignore();
  const taken = await sql(TABLE)
    .where({ name })
    .whereNull('holder')
    .update({ ...own, token: sql.raw('token + 1'), beat: sql.raw('beat + 1') });
  const row: LeaseRow = await sql(TABLE).where({ name }).first();
  if (taken === 0) return { heldBy: row };
  await abandonRuns(sql, name, at);
  return { lease: { name, token: Number(row.token) } };
}

/** Takes it from a holder that is believed dead; false where it moved since it was seen. */
export async function freeLease(
  sql: Knex,
  { name, token, beat }: Pick<LeaseRow, 'name' | 'token' | 'beat'>,
  at: string,
): Promise<boolean> {
  // The token grows here already, so that a holder that only slept is told at its next write.
  const freed = await sql(TABLE)
    .where({ name, token, beat })
    .whereNotNull('holder')
    .update({ holder: null, token: sql.raw('token + 1') });
  if (freed > 0) await abandonRuns(sql, name, at);
  return freed > 0;
}

export const releaseLease = (engine: Engine, { name, token }: Lease): Promise<void> =>
  engine.write(async ({ sql }) => {
    await sql(TABLE).where({ name, token }).update({ holder: null });
  });

/**
 * A sign of life, and the fence: changes the row inside the transaction of the caller, so that nobody can take the
 * lease before that has ended. False where the lease has changed hands.
 */
export async function beat(sql: Knex, { name, token }: Lease, at: string): Promise<boolean> {
  const beaten = await sql(TABLE)
    .where({ name, token })
    .whereNotNull('holder')
    .update({ beat: sql.raw('beat + 1'), heartbeat_at: at });
  return beaten > 0;
}

/**
 * The fence for who works on behalf of the holder: no sign of life, so that a dead holder is replaced all the same.
 * Inside a writing transaction it stays true to the end of that, since writers take turns.
 */
export const isHeld = async (sql: Knex, { name, token }: Lease): Promise<boolean> =>
  (await sql(TABLE).where({ name, token }).whereNotNull('holder').first('name')) !== undefined;

export const isHeldBy = async (
  sql: Knex,
  { name, token }: Lease,
  { holder }: Pick<ProcessIdentity, 'holder'>,
): Promise<boolean> => (await sql(TABLE).where({ name, token, holder }).first('name')) !== undefined;

/** Only the holder runs under a lease, so what still claims to run under it is cut off. */
const abandonRuns = (sql: Knex, lease: string, at: string): Promise<number> =>
  sql('sync_run').where({ lease, status: 'running' }).update({ status: 'abandoned', finished_at: at });

export const leaseLost = (name: string): Fatal =>
  new Fatal(`Another process took ${name} over while this one showed no life; nothing more was written`, {
    code: 'lease_lost',
    hint: 'Nothing is lost: a scheduled job is made again, a backfill goes on where it was when it is given again. A machine that stands still for 20 s is overloaded or was suspended.',
  });
