// Processes killed with -9 at one step of a push after the other, in one workplace with one service: the next one
// meets what the death left, and dies too. In the end the ledger of the service tells what really happened. The
// look before a first send is off: it would hide a fault of the outbox, which has to keep the promise by itself.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace, type Workplace } from './workplace.ts';

export interface KillMode {
  name: string;
  sandbox: SandboxOptions;
  /** Settling time of the job, as in the configuration. */
  settle: string;
}

export const killModes: readonly KillMode[] = [
  { name: 'readable at once', sandbox: {}, settle: '0s' },
  // Longer than the next process takes to start: it cannot see what the last one has brought in.
  { name: 'readable after a delay', sandbox: { importVisibleAfterMs: 5_000 }, settle: '6s' },
  {
    name: 'unreadable for a while',
    sandbox: { faults: [{ call: 'route-plans', fault: '400', rate: 0.5 }] },
    settle: '0s',
  },
  {
    name: 'resets after commit',
    sandbox: { faults: [{ call: 'import-route-plan', fault: 'reset-after-commit', rate: 0.6 }] },
    settle: '0s',
  },
];

export interface KillReport {
  mode: string;
  /** Processes that died by -9. */
  kills: number;
  /** Steps of a run that was not killed. */
  steps: number;
  plans: number;
  twice: number;
  lost: number;
  /** Entries that the outbox does not call confirmed in the end. */
  open: number;
}

export interface SweepOptions {
  mode: KillMode;
  kills: number;
  /** Distance between the steps of one kill and the next. */
  stride: number;
}

const PRELOAD = join(import.meta.dirname, 'kill-at.ts');
const JOB = ['run', 'push-route-plans', '--json'];
const FEED = 'erp: { route_plans: { source: files, folder: plans, settle: 0s } }\n';
/** Chances for everything to be resolved after the last kill. */
const MOST_RUNS = 60;

export async function sweepKills({ mode, kills, stride }: SweepOptions): Promise<KillReport> {
  const sandbox = await startSandbox({ churn: false, vehicles: 2, ...mode.sandbox });
  const place = makeWorkplace(
    configFor(
      sandbox.url,
      `${FEED}jobs: { push-route-plans: { settle: ${mode.settle}, check_before_send: false } }\n`,
    ),
  );
  try {
    const steps = await countSteps(place);
    let died = 0;
    let plans = 1;
    for (let at = 1; died < kills; at = at + stride > steps ? 1 + (died % stride) : at + stride) {
      drop(place, plans++);
      // The second one dies while it makes good what the first one left; the third one goes to its end.
      for (let deaths = 0; deaths < 2; deaths++) if (await diesAt(place, at)) died++;
      await place.run(JOB);
    }
    sandbox.clearFaults();
    await finish(place);
    return { mode: mode.name, kills: died, steps, plans, ...(await verdict(place, sandbox, plans)) };
  } finally {
    place.remove();
    await sandbox.close();
  }
}

async function diesAt(place: Workplace, step: number): Promise<boolean> {
  const env = { NODE_OPTIONS: `--import=${PRELOAD}`, KILL_AT: String(step) };
  return (await place.run(JOB, env)).signal === 'SIGKILL';
}

/** How many steps a run has that takes, sends, confirms and tells one plan. */
async function countSteps(place: Workplace): Promise<number> {
  drop(place, 0);
  const file = join(place.dir, 'steps.txt');
  await place.run(JOB, { NODE_OPTIONS: `--import=${PRELOAD}`, STEPS_FILE: file });
  return readFileSync(file, 'utf8').split('\n').length;
}

async function finish(place: Workplace): Promise<void> {
  for (let runs = 0; runs < MOST_RUNS; runs++) {
    await place.run(JOB);
    if ((await openEntries(place)) === 0) return;
  }
}

async function openEntries(place: Workplace): Promise<number> {
  const [row] = await place.query<{ n: number }>(
    "select count(*) as n from push_outbox where state <> 'confirmed' or told_at is null",
  );
  return row?.n ?? 0;
}

async function verdict(place: Workplace, sandbox: Sandbox, plans: number) {
  const counts = Array.from({ length: plans }, (_, n) => sandbox.ledger().plans[codeOf(n)] ?? 0);
  return {
    twice: counts.filter((count) => count > 1).length,
    lost: counts.filter((count) => count === 0).length,
    open: await openEntries(place),
  };
}

const codeOf = (n: number): string => `K${String(n).padStart(4, '0')}`;

function drop(place: Workplace, n: number): void {
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const code = codeOf(n);
  mkdirSync(join(place.dir, 'plans'), { recursive: true });
  const plan = {
    external_code: code,
    date_time_start: `${day}T11:00:00Z`,
    date_time_end: `${day}T20:00:00Z`,
    route_points: [{ name: 'Stop', latitude: -23.5, longitude: -46.6, external_code: `${code}-1` }],
    options: { optimize: false, geocoding: false },
  };
  writeFileSync(join(place.dir, 'plans', `${code}.json`), JSON.stringify(plan));
}
