// A real daemon with every job due again and again, against a service with chaos on, for a given time. Its memory
// and files are sampled from inside its process; the size of the write-ahead log from outside.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadJobs } from '../../../src/app/app.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { type Fault, type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { planCase } from '../kills/kill-cases.ts';
import { configFor, makeWorkplace, type Workplace } from '../process/workplace.ts';
import { dropItem, openEntries, restMs, twiceAndLost } from '../push/dropped-items.ts';
import { SIMULATED_JOBS } from '../simulation/simulated-life.ts';
import { compareWithTruth } from '../simulation/simulation-truth.ts';
import type { Sample } from './process-probe.ts';
import { figuresOf, type SoakFigures } from './soak-figures.ts';

const PROBE = join(import.meta.dirname, 'process-probe.ts');
const PLANS = planCase;
const MB = 1_048_576;
const FIRST_RUN_MS = 30_000;
/** Long enough for a huge body, which has to reach its cap. */
const TIMEOUT = '3s';
const SETTLE = '3100ms';
/** Until nothing is open, in fair weather. */
const MOST_RUNS = 30;
const REST_MS = 1_000;
const MOST_TRIES = 3;
const DAY_MS = 86_400_000;

export interface SoakOptions {
  minutes: number;
  /** Six cron fields. */
  schedule: string;
}

export interface SoakReport extends SoakFigures {
  minutes: number;
  /** Of the daemon, not of the runs by hand afterwards. */
  runs: number;
  /** Runs that failed, which chaos may cause. */
  failed: number;
  requests: number;
  faults: number;
  walMb: number;
  items: number;
  twice: number;
  lost: number;
  /** Pulled rows that were compared with the sandbox's own state, and the tables that differ from it. */
  compared: number;
  wrong: string[];
  exit: number | null;
}

const CHAOS: readonly Fault[] = [
  { call: '*', fault: '500', rate: 0.03 },
  { call: '*', fault: '503', rate: 0.02 },
  { call: '*', fault: '429', rate: 0.01 },
  { call: '*', fault: 'truncated', rate: 0.02 },
  { call: '*', fault: 'html', rate: 0.01 },
  { call: '*', fault: 'empty', rate: 0.01 },
  { call: '*', fault: 'reset-before-commit', rate: 0.02 },
  { call: '*', fault: 'reset-after-commit', rate: 0.02 },
  { call: '*', fault: 'expired-token', rate: 0.01 },
  { call: '*', fault: 'latency', ms: 300, rate: 0.05 },
  { call: '*', fault: 'huge', bytes: 70 * MB, rate: 0.001 },
];

export async function soak({ minutes, schedule }: SoakOptions): Promise<SoakReport> {
  const sandbox = await startSandbox({ vehicles: 6, faults: CHAOS });
  const place = makeWorkplace(configFor(sandbox.url, await sectionsOf(schedule), TIMEOUT));
  const probe = join(place.dir, 'probe');
  try {
    const daemon = place.start(['start'], { NODE_OPTIONS: `--import=${PROBE}`, PROBE_FILE: probe });
    await daemon.printed(/is running/);
    const endMs = Date.now() + minutes * 60_000;
    let [items, walMb] = [0, 0];
    // A busy machine may need longer for a first run and a first fault; without them there is nothing to report.
    const hasBegun = async () => faultsIn(sandbox) > 0 && (await runsIn(place)).runs > 0;
    const isOver = async () => Date.now() >= endMs + FIRST_RUN_MS || (await hasBegun());
    while (Date.now() < endMs || !(await isOver())) {
      dropItem(place, PLANS, items++);
      await pause(Math.min(2_000, Math.max(500, endMs - Date.now())));
      walMb = Math.max(walMb, sizeOf(join(place.dir, 'data', 'warehouse.db-wal')) / MB);
    }
    const faults = faultsIn(sandbox);
    sandbox.clearFaults();
    daemon.kill('SIGTERM');
    const { code } = await daemon.ended;
    const counts = await runsIn(place);
    // Runs in fair weather complete the items that chaos left open and those dropped last; a failed attempt waits for its
    // retry, and an item that was not found has to stay absent for a while.
    for (let runs = 0; runs < MOST_RUNS; runs++) {
      await place.run(['run', PLANS.job]);
      if ((await openEntries(place)) === 0) break;
      await pause(Math.max(await restMs(place), REST_MS));
    }
    const judged = await judgedPulls(place, sandbox);
    return {
      minutes,
      ...counts,
      requests: total(sandbox.ledger().requests),
      faults,
      ...figuresOf(samplesIn(probe)),
      walMb,
      items,
      ...twiceAndLost(sandbox.ledger().plans, PLANS.name, items),
      compared: judged.rows,
      wrong: judged.wrong,
      exit: code,
    };
  } finally {
    place.remove();
    await sandbox.close();
  }
}

/** Runs in fair weather read what chaos kept away. The truth moves on meanwhile, so a difference is compared again. */
async function judgedPulls(place: Workplace, sandbox: Sandbox) {
  // Each pull reads five days back; the days of a short soak alone may have no plan.
  const startMs = Date.now() - 3 * DAY_MS;
  for (let tries = 1; ; tries++) {
    for (const { name } of SIMULATED_JOBS) if (name.startsWith('pull-')) await place.runHere(['run', name]);
    const judged = await compareWithTruth({ sandbox, clock: systemClock, startMs }, (text) => place.query(text));
    if (judged.wrong.length === 0 || tries === MOST_TRIES) return judged;
  }
}

async function sectionsOf(schedule: string): Promise<string> {
  const jobs = (await loadJobs()).map(({ name }) => `  ${name}: { schedule: "${schedule}"${optionsOf(name)} }`);
  // The sandbox has personal columns in clear.
  return `privacy: { driver.cpf: keep, driver.cnh_number: keep, driver.rg: keep }
erp: { route_plans: { source: files, folder: drop, settle: 0s } }
jobs:
${jobs.join('\n')}
`;
}

/** Pulls read as far back as data may come late, so that every row can be judged in the end. */
function optionsOf(job: string): string {
  if (job === PLANS.job) return `, settle: ${SETTLE}`;
  const { options = {} } = SIMULATED_JOBS.find(({ name }) => name === job) ?? {};
  return Object.entries(options)
    .map(([name, value]) => `, ${name}: ${value}`)
    .join('');
}

async function runsIn(place: Workplace): Promise<{ runs: number; failed: number }> {
  const [row] = await place.query<{ runs: number; failed: number }>(
    `select count(*) as runs, coalesce(sum(status = 'failed'), 0) as failed from sync_run`,
  );
  return { runs: Number(row?.runs), failed: Number(row?.failed) };
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
const faultsIn = (sandbox: Sandbox): number => total(sandbox.ledger().faults_injected);
const total = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, n) => sum + n, 0);

const samplesIn = (file: string): Sample[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Sample);
