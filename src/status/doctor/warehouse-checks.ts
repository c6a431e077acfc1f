// The doctor's checks of the warehouse: whether it can be written, how it is set up, which daemons use it, and whether
// its clock agrees with this machine.
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import { formatDuration } from '../../core/time/durations.ts';
import { deleteFact, writeFact } from '../../warehouse/control/learned-facts.ts';
import { readLeases } from '../../warehouse/control/leases.ts';
import { readDaemons } from '../../warehouse/control/processes.ts';
import { TICK_CAUSES } from '../../warehouse/control/runs.ts';
import { CLOCK_HINT, databaseTime, gapInWords, isApart, readGap } from '../../warehouse/control/server-clock.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { type CheckOutcome, ok, warn } from './check-result.ts';

/** Writes a row and deletes it in one transaction. Opening the warehouse has already brought the schema up to date. */
export async function checkWarehouse(engine: Engine, clock: Clock): Promise<CheckOutcome> {
  const name = 'doctor';
  const runs = await engine.write(async ({ sql }) => {
    await writeFact({ sql }, name, {}, clock.now());
    await deleteFact(sql, name);
    return Number((await sql('sync_run').count({ runs: '*' }))[0]?.runs ?? 0);
  });
  const facts = await engine.inspect?.();
  if (facts?.concern) return warn(`${engine.name}: ${facts.concern.found}`, facts.concern.hint);
  const setUp = facts === undefined ? '' : `, ${facts.found}`;
  return ok(`${engine.name}${setUp}, writable, schema up to date, ${runs} runs on record`);
}

/** A process whose heartbeat is older than this is stuck or gone. */
const SILENT_MS = 60_000;

/** Whether a daemon is alive, and which processes have a run under way. */
export async function checkDaemons(engine: Engine, clock: Clock): Promise<CheckOutcome> {
  const daemons = await readDaemons(engine, clock);
  const alive = daemons.filter(({ isSilent }) => !isSilent);
  const nowMs = await databaseTime(engine, clock);
  const held = (await readLeases(engine)).filter(({ holder }) => holder !== null);
  if (alive.length === 0) {
    const [dead] = daemons.toSorted((a, b) => b.heartbeat_at.localeCompare(a.heartbeat_at));
    const last = await lastScheduled(engine);
    const since =
      dead === undefined
        ? `the last scheduled run started ${last}`
        : `process ${dead.pid} on ${dead.host} made its last heartbeat ${formatDuration(nowMs - Date.parse(dead.heartbeat_at))} ago`;
    // A dead daemon may still hold the jobs that it ran, and commands hold theirs.
    if (dead !== undefined || last !== null) {
      return warn(
        `no daemon is alive, so nothing is pulled or pushed; ${since}`,
        'Start one with `npx roadbook start`; if a service manager runs it, ask that why it ended.',
      );
    }
    if (held.length === 0) return ok('no daemon has run here yet');
  }
  const silentMs = (at: string | null): number => nowMs - Date.parse(at ?? isoInstant(0));
  const silent = held.find(({ heartbeat_at }) => silentMs(heartbeat_at) > SILENT_MS);
  if (silent !== undefined) {
    return warn(
      `${silent.name} is held by process ${silent.pid} on ${silent.host}, without a heartbeat for ${formatDuration(silentMs(silent.heartbeat_at))}`,
      'A running daemon frees it and takes a job over by itself; start one if none is running.',
    );
  }
  const places = new Set([...alive, ...held].map(({ host, pid }) => `process ${pid} on ${host}`));
  const runs = held.length === 0 ? 'no run is under way' : `under way: ${held.map(({ name }) => name).join(', ')}`;
  return ok(`${[...places].join(', ')}; ${runs}`);
}

/** Each daemon writes times by its own clock, so each of them must agree with the server's. */
export async function checkServerClock(engine: Engine, clock: Clock): Promise<CheckOutcome> {
  const gap = await readGap(engine, clock);
  if (gap === undefined) return ok('the warehouse uses the clock of this machine');
  return isApart(gap) ? warn(gapInWords(gap), CLOCK_HINT) : ok(gapInWords(gap));
}

const lastScheduled = (engine: Engine): Promise<string | null> =>
  engine.read(async (sql) => {
    const [row] = await sql('sync_run')
      .whereIn('cause', [...TICK_CAUSES])
      .max({ last: 'started_at' });
    return row?.last ?? null;
  });
