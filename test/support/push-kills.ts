// Processes killed with -9 at one step of a push after the other, in one workplace with one service: the next one
// meets what the death left, and dies too. In the end the ledger of the service tells what really happened.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type EngineName, makePlace } from './engines.ts';
import type { KillCase, KillMode } from './kill-cases.ts';
import { configFor, makeWorkplace, type Workplace } from './workplace.ts';

export interface KillReport {
  job: string;
  engine: EngineName;
  checks: boolean | undefined;
  mode: string;
  /** Processes that died by -9. */
  kills: number;
  /** Steps of a run that was not killed. */
  steps: number;
  things: number;
  twice: number;
  lost: number;
  /** Entries that the outbox does not call confirmed in the end. */
  open: number;
}

export interface SweepOptions {
  kind: KillCase;
  mode: KillMode;
  kills: number;
  /** Step of the first kill; 1 unless told. */
  first?: number;
  /** Distance between the steps of one kill and the next. */
  stride: number;
  /** The warehouse's engine; SQLite unless told. */
  engine?: EngineName;
}

const PRELOAD = join(import.meta.dirname, 'kill-at.ts');
/** Chances for everything to be resolved after the last kill. */
const MOST_RUNS = 60;

interface Sweep {
  place: Workplace;
  kind: KillCase;
}

export async function sweepKills({
  kind,
  mode,
  kills,
  first = 1,
  stride,
  engine = 'sqlite',
}: SweepOptions): Promise<KillReport> {
  const sandbox = await startSandbox({ churn: false, vehicles: 2, ...mode.sandbox(kind) });
  const warehouse = await makePlace(engine);
  const settings = `warehouse: ${JSON.stringify(warehouse.settings)}\n${settingsOf(kind, mode)}`;
  const place = makeWorkplace(configFor(sandbox.url, settings), warehouse);
  const sweep: Sweep = { place, kind };
  try {
    const steps = await countSteps(sweep);
    let died = 0;
    let things = 1;
    for (let at = first; died < kills; at = at + stride > steps ? 1 + (died % stride) : at + stride) {
      drop(sweep, things++);
      // The second one dies while it makes good what the first one left; the third one goes to its end.
      for (let deaths = 0; deaths < 2; deaths++) if (await diesAt(sweep, at)) died++;
      await run(sweep);
    }
    sandbox.clearFaults();
    await finish(sweep);
    const { job, checks } = kind;
    const verdict = await verdictOf(sweep, sandbox, things);
    return { job, engine, checks, mode: mode.name, kills: died, steps, things, ...verdict };
  } finally {
    place.remove();
    await warehouse.remove();
    await sandbox.close();
  }
}

function settingsOf({ feed, job, checks }: KillCase, { settle }: KillMode): string {
  const check = checks === undefined ? '' : `, check_before_send: ${checks}`;
  return `erp: { ${feed}: { source: files, folder: drop, settle: 0s } }
jobs: { ${job}: { settle: ${settle}${check} } }
`;
}

const run = ({ place, kind }: Sweep, env: Record<string, string> = {}) =>
  place.run(['run', kind.job, '--json'], env);

async function diesAt(sweep: Sweep, step: number): Promise<boolean> {
  const env = { NODE_OPTIONS: `--import=${PRELOAD}`, KILL_AT: String(step) };
  return (await run(sweep, env)).signal === 'SIGKILL';
}

/** How many steps a run has that takes, sends, confirms and tells one thing. */
async function countSteps(sweep: Sweep): Promise<number> {
  drop(sweep, 0);
  const file = join(sweep.place.dir, 'steps.txt');
  await run(sweep, { NODE_OPTIONS: `--import=${PRELOAD}`, STEPS_FILE: file });
  return readFileSync(file, 'utf8').split('\n').length;
}

async function finish(sweep: Sweep): Promise<void> {
  for (let runs = 0; runs < MOST_RUNS; runs++) {
    await run(sweep);
    if ((await openEntries(sweep)) === 0) return;
  }
}

async function openEntries({ place }: Sweep): Promise<number> {
  const [row] = await place.query<{ n: number }>(
    "select count(*) as n from push_outbox where state <> 'confirmed' or told_at is null",
  );
  return row?.n ?? 0;
}

async function verdictOf(sweep: Sweep, sandbox: Sandbox, things: number) {
  const accepted = sandbox.ledger()[sweep.kind.ledger];
  const counts = Array.from({ length: things }, (_, n) => accepted[sweep.kind.name(n)] ?? 0);
  return {
    twice: counts.filter((count) => count > 1).length,
    lost: counts.filter((count) => count === 0).length,
    open: await openEntries(sweep),
  };
}

function drop({ place, kind }: Sweep, n: number): void {
  mkdirSync(join(place.dir, 'drop'), { recursive: true });
  writeFileSync(join(place.dir, 'drop', `${n}.json`), JSON.stringify(kind.thing(n)));
}
