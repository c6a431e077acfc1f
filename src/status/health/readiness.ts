// Whether this daemon can do its work now: the warehouse answers, the disk has room, and no job is held back by a
// lease whose holder is dead.
import { asRoadbookError } from '../../core/errors.ts';
import { readLeases } from '../../warehouse/control/leases.ts';
import { createObserver } from '../../warehouse/control/processes.ts';
import { leastFree } from '../doctor/machine-checks.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';

export interface Check {
  ok: boolean;
  words: string;
}

export interface Readiness {
  ready: boolean;
  checks: { warehouse: Check; disk: Check; lease: Check };
}

/** With less than this a load may fail in the middle. */
const LEAST_FREE_BYTES = 100 * 1024 ** 2;
/** A probe has to answer even where the warehouse does not. */
const LONGEST_WAIT_MS = 5_000;

/** A lease that has not been kept alive for this long should have been taken over; who should have is not there. */
const DEAD_LEASE_MS = 60_000;

type ReadinessDependencies = Pick<StatusServerDependencies, 'engine' | 'clock' | 'redactor' | 'running'>;

export function createReadiness(dependencies: ReadinessDependencies): () => Promise<Readiness> {
  const observer = createObserver(dependencies.clock);
  return async () => {
    const [warehouse, lease, disk] = await Promise.all([
      answered(dependencies, () => checkWarehouse(dependencies)),
      answered(dependencies, () => checkLeases(dependencies, observer)),
      answered(dependencies, () => checkDisk(dependencies)),
    ]);
    const checks = { warehouse, disk, lease };
    return { ready: Object.values(checks).every(({ ok }) => ok), checks };
  };
}

async function checkWarehouse({ engine }: ReadinessDependencies): Promise<Check> {
  await engine.read((sql) => sql('sync_run').first('run_id'));
  return { ok: true, words: 'answers' };
}

/** By the heartbeats of the holders, not by a time: the clock of a holder may be another one. */
async function checkLeases(
  { engine }: ReadinessDependencies,
  observer: ReturnType<typeof createObserver>,
): Promise<Check> {
  const held = (await readLeases(engine)).flatMap(({ name, holder, beat }) =>
    holder === null ? [] : [{ name, id: holder, beat }],
  );
  observer.observe(held);
  const dead = held.filter(({ id }) => observer.stillMs(id) > DEAD_LEASE_MS);
  if (dead.length === 0) return { ok: true, words: `${held.length} held, each kept alive` };
  return { ok: false, words: `not kept alive: ${dead.map(({ name }) => name).join(', ')}` };
}

async function answered(
  { clock, redactor }: ReadinessDependencies,
  check: () => Promise<Check>,
): Promise<Check> {
  const over = new AbortController();
  const late = clock.sleep(LONGEST_WAIT_MS, over.signal).then(
    () => ({ ok: false, words: `no answer within ${LONGEST_WAIT_MS / 1_000} s` }),
    () => ({ ok: false, words: '' }),
  );
  const asked = check().catch((thrown) => ({
    ok: false,
    words: redactor.redact(asRoadbookError(thrown).message),
  }));
  const found = await Promise.race([asked, late]);
  over.abort();
  return found;
}

async function checkDisk({ engine, running }: ReadinessDependencies): Promise<Check> {
  const facts = await engine.inspect?.();
  const folders = [facts?.folder, running().config.warehouse.images].filter(
    (folder) => typeof folder === 'string',
  );
  const { folder, bytes } = await leastFree(folders);
  return {
    ok: bytes >= LEAST_FREE_BYTES,
    words: `${Math.round(bytes / 1024 ** 2)} MiB free at ${folder}`,
  };
}
