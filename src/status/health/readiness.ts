// Whether this daemon can work now: the warehouse answers, the disk has free space, and no lease of a dead holder
// blocks a job.
import { asRoadbookError } from '../../core/errors.ts';
import { within } from '../../core/time/clock.ts';
import { readLeases } from '../../warehouse/control/leases.ts';
import { createObserver } from '../../warehouse/control/processes.ts';
import { leastFree } from '../doctor/machine-checks.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';

export interface Check {
  ok: boolean;
  words: string;
}

/** With less free space a load may fail halfway. */
const LEAST_FREE_BYTES = 100 * 1024 ** 2;
/** The probe must answer even if the warehouse does not. */
const LONGEST_WAIT_MS = 5_000;

/** A lease without a heartbeat for this long should have been taken over, so no live daemon can take it over. */
const DEAD_LEASE_MS = 60_000;

type Observer = ReturnType<typeof createObserver>;
type ReadinessDependencies = Pick<StatusServerDependencies, 'engine' | 'clock' | 'redactor' | 'running'>;

export function createReadiness(dependencies: ReadinessDependencies) {
  const observer = createObserver(dependencies.clock);
  return async () => {
    const [warehouse, lease, disk] = await Promise.all([
      withTimeout(dependencies, () => checkWarehouse(dependencies)),
      withTimeout(dependencies, () => checkLeases(dependencies, observer)),
      withTimeout(dependencies, () => checkDisk(dependencies)),
    ]);
    const checks = { warehouse, disk, lease };
    return { ready: Object.values(checks).every(({ ok }) => ok), checks };
  };
}

async function checkWarehouse({ engine }: ReadinessDependencies): Promise<Check> {
  await engine.read((sql) => sql('sync_run').first('run_id'));
  return { ok: true, words: 'answers' };
}

/** Watches whether each heartbeat counter changes. Heartbeat times are not compared: the holder's clock may differ. */
async function checkLeases({ engine }: ReadinessDependencies, observer: Observer): Promise<Check> {
  const held = (await readLeases(engine)).flatMap(({ name, holder, beat }) =>
    holder === null ? [] : [{ name, id: holder, beat }],
  );
  observer.observe(held);
  const dead = held.filter(({ id }) => observer.stillMs(id) > DEAD_LEASE_MS);
  if (dead.length === 0) return { ok: true, words: `${held.length} held, all with recent heartbeats` };
  return { ok: false, words: `without a heartbeat: ${dead.map(({ name }) => name).join(', ')}` };
}

/** The result of the check. An error or a timeout is a failed check. */
async function withTimeout({ clock, redactor }: ReadinessDependencies, check: () => Promise<Check>): Promise<Check> {
  const result = check().catch((thrown) => ({
    ok: false,
    words: redactor.redact(asRoadbookError(thrown).message),
  }));
  const late = { ok: false, words: `no answer within ${LONGEST_WAIT_MS / 1_000} s` };
  return (await within(clock, LONGEST_WAIT_MS, result)) ?? late;
}

/** The disk with the least free space of those that hold the warehouse and the pictures. */
export async function freeDisk({ engine, running }: Pick<ReadinessDependencies, 'engine' | 'running'>) {
  const facts = await engine.inspect?.();
  const folders = [facts?.folder, running().config.warehouse.images].filter((folder) => typeof folder === 'string');
  return leastFree(folders);
}

async function checkDisk(dependencies: ReadinessDependencies): Promise<Check> {
  const { folder, bytes } = await freeDisk(dependencies);
  return { ok: bytes >= LEAST_FREE_BYTES, words: `${Math.round(bytes / 1024 ** 2)} MiB free at ${folder}` };
}
