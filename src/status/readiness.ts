// Whether this daemon can do its work now: the warehouse answers, the disk has room, the lease is held.
import { statfs } from 'node:fs/promises';
import { asRoadbookError } from '../core/errors.ts';
import type { StatusServerParts } from './server-parts.ts';

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

export async function readiness(
  parts: Pick<StatusServerParts, 'engine' | 'clock' | 'lease' | 'redactor'>,
): Promise<Readiness> {
  const checks = {
    warehouse: await checkWarehouse(parts),
    disk: await checkDisk(),
    lease: checkLease(parts),
  };
  return { ready: Object.values(checks).every(({ ok }) => ok), checks };
}

async function checkWarehouse({
  engine,
  clock,
  redactor,
}: Pick<StatusServerParts, 'engine' | 'clock' | 'redactor'>): Promise<Check> {
  const answered = new AbortController();
  const late = clock.sleep(LONGEST_WAIT_MS, answered.signal).then(
    () => ({ ok: false, words: `no answer within ${LONGEST_WAIT_MS / 1_000} s` }),
    () => ({ ok: false, words: '' }),
  );
  const asked = engine
    .read((sql) => sql('sync_run').first('run_id'))
    .then(() => ({ ok: true, words: 'answers' }))
    .catch((thrown) => ({ ok: false, words: redactor.redact(asRoadbookError(thrown).message) }));
  const check = await Promise.race([asked, late]);
  answered.abort();
  return check;
}

async function checkDisk(): Promise<Check> {
  const { bavail, bsize } = await statfs(process.cwd());
  const free = bavail * bsize;
  return { ok: free >= LEAST_FREE_BYTES, words: `${Math.round(free / 1024 ** 2)} MiB free` };
}

function checkLease({ lease }: Pick<StatusServerParts, 'lease'>): Check {
  const { held, words } = lease();
  return { ok: held, words };
}
