// Another process that holds the write lock of a SQLite file for a while, as a tool of a user might: when a pull begins,
// or while a push waits for an answer of the service that has to be stored.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { startFront } from '../fleet/front.ts';
import { configFor, type Ended, makeWorkplace, type Workplace } from '../process/workplace.ts';
import { dropItem } from '../push/dropped-items.ts';
import { planCase } from './kill-cases.ts';

const HOLDER = `
const { Database } = require('sqlite3');
const database = new Database(process.argv[1]);
database.configure('busyTimeout', 30000);
database.exec('begin immediate', (error) => {
  if (error) throw error;
  process.stdout.write('locked');
  const release = () => database.exec('rollback', () => process.exit(0));
  process.stdin.once('data', (ms) => setTimeout(release, Number(ms)));
});`;

const BEGIN_PROBE = join(import.meta.dirname, 'report-begin.ts');
const PLANS = planCase;
const PUSHED = 4;
/** The lock meets the answer to this plan: some are done, some are to come. */
const MET = 2;
/** Of a push, until it has found the items it sent. */
const MOST_RUNS = 8;
const REST_MS = 1_000;
/** Longer than it takes to start the process that locks the file, which the answer waits for. */
const TIMEOUT = '5s';
const SETTLE = '5100ms';

export interface LockReport {
  during: 'the beginning of a pull' | 'the answer to a push';
  /** From the moment the run asked for it, or the answer was sent. */
  heldMs: number;
  /** Exit code and error of the run that met the lock. */
  code: number | null;
  error: string | null;
  /** Exit code of the last run after it. */
  next: number | null;
  /** Vehicles stored, or plans confirmed and acknowledged, in the end. */
  done: number;
  /** Vehicles of the service, or plans dropped. */
  of: number;
  /** Plans that the service accepted more than once. */
  twice: number;
}

export async function lockPull(heldMs: number): Promise<LockReport> {
  const sandbox = await startSandbox({ vehicles: 5, churn: false, stepped: true });
  const place = makeWorkplace(configFor(sandbox.url));
  const args = ['run', 'pull-vehicles', '--json'];
  try {
    await place.run(['run', 'pull-drivers']);
    const lock = await lockFile(place);
    const running = place.start(args, { NODE_OPTIONS: `--import=${BEGIN_PROBE}` });
    await running.printed(/begins/);
    lock.releaseAfter(heldMs);
    const met = await running.ended;
    await lock.released;
    const { code: next } = await place.run(args);
    const truth = (await (await fetch(`${sandbox.url}/_sandbox/truth/vehicles`)).json()) as unknown[];
    return {
      during: 'the beginning of a pull',
      heldMs,
      ...endOf(met),
      next,
      done: await count(place, 'select count(*) as n from vehicle'),
      of: truth.length,
      twice: 0,
    };
  } finally {
    place.remove();
    await sandbox.close();
  }
}

/** The service has accepted the plan and its answer is under way when the file gets locked. */
export async function lockPush(heldMs: number): Promise<LockReport> {
  const sandbox = await startSandbox({ vehicles: 2, churn: false, stepped: true });
  let asked = 0;
  let lock: Awaited<ReturnType<typeof lockFile>> | undefined;
  const front = await startFront(sandbox.url, async ({ pathname }, original) => {
    if (!pathname.endsWith('/import/route_plan') || ++asked !== MET) return undefined;
    const body = await original();
    lock = await lockFile(place);
    lock.releaseAfter(heldMs);
    return { body };
  });
  const place = makeWorkplace(
    configFor(
      front.url,
      `erp: { route_plans: { source: files, folder: drop, settle: 0s } }
jobs: { push-route-plans: { settle: ${SETTLE} } }
`,
      TIMEOUT,
    ),
  );
  const args = ['run', PLANS.job, '--json'];
  try {
    for (let n = 0; n < PUSHED; n++) dropItem(place, PLANS, n);
    const met = await place.run(args);
    if (lock === undefined) throw new Error(`no plan was sent: ${met.stderr}`);
    await lock.released;
    const confirmed = () =>
      count(place, `select count(*) as n from push_outbox where state = 'confirmed' and told_at is not null`);
    let next: number | null = null;
    for (let runs = 0; runs < MOST_RUNS && (next !== 0 || (await confirmed()) < PUSHED); runs++) {
      if (runs > 0) await pause(REST_MS);
      next = (await place.run(args)).code;
    }
    const accepted = Object.values(sandbox.ledger().plans);
    return {
      during: 'the answer to a push',
      heldMs,
      ...endOf(met),
      next,
      done: Math.min(await confirmed(), accepted.length),
      of: PUSHED,
      twice: accepted.filter((times) => times > 1).length,
    };
  } finally {
    place.remove();
    await front.close();
    await sandbox.close();
  }
}

/** Resolves once the lock is held. */
async function lockFile({ dir }: Workplace) {
  const file = join(dir, 'data', 'warehouse.db');
  const holder = spawn(process.execPath, ['-e', HOLDER, file], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const released = once(holder, 'exit');
  await once(holder.stdout, 'data');
  return { released, releaseAfter: (ms: number) => void holder.stdin.write(String(ms)) };
}

function endOf({ code, stdout }: Ended): Pick<LockReport, 'code' | 'error'> {
  const { error } = JSON.parse(stdout) as { error: { code: string } | null };
  return { code, error: error?.code ?? null };
}

async function count(place: Workplace, sql: string): Promise<number> {
  const [row] = await place.query<{ n: number }>(sql);
  return Number(row?.n);
}
