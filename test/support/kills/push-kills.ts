// Processes killed with -9 at one step of a push after the other, in one workplace with one service: the next one
// recovers, and dies too. In the end the ledger of the service shows what really happened.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace, QUICK, type Workplace } from '../process/workplace.ts';
import { dropItem, openEntries, twiceAndLost } from '../push/dropped-items.ts';
import { type EngineName, makePlace } from '../warehouse/engines.ts';
import type { KillCase, KillMode } from './kill-cases.ts';
import { type RecoverySteps, recoverySteps } from './recovery-steps.ts';

export interface KillReport {
  job: string;
  engine: EngineName;
  mode: string;
  /** Steps of a run that was not killed, on a warehouse that others have used before. */
  steps: number;
  /** Steps at which a run had to die. */
  aimed: number;
  /** Of these, how many never had both deaths. */
  missed: number;
  /** Items that were dropped for it: a step that a run or its recovery did not come to is tried again. */
  rounds: number;
  /** Runs with something new to push that died by -9. */
  killed: number;
  /** Runs that died by -9 while they recovered from such a death. */
  again: number;
  items: number;
  twice: number;
  lost: number;
  /** Entries that the outbox does not call confirmed in the end. */
  open: number;
}

export interface Death {
  /** Number of the step, from 1. */
  at: number;
  /** Only steps of this name count, as kill-at.ts names them. */
  only?: string;
}

export interface SweepOptions {
  kind: KillCase;
  mode: KillMode;
  /** The first deaths; those after the end of a run are left out. */
  deaths: Iterable<Death>;
  /** Where in a recovery the second deaths begin to go round, from 0 to 1. */
  phase: number;
  /** The warehouse's engine; default SQLite. */
  engine?: EngineName;
  /** After each item that was dropped and killed. */
  onRound?(): void;
}

const PRELOAD = join(import.meta.dirname, 'kill-at.ts');
/** Chances for everything to be resolved after the last kill. */
const MOST_RUNS = 60;
/** From one chance to the next: an item that was not found has to stay absent for a while. */
const REST_MS = 500;
/** Where the service answers by chance or late, one run is longer than the other. */
const MOST_TRIES = 5;
/** A run that is longer than a calm one is tried so often for each further step. */
const TRIES_BEYOND = 2;
/** Where items are seen late, a run also completes items of others: it may be so much longer than a calm one. */
const LONGEST_RUN = 1.25;

interface Sweep extends Pick<SweepOptions, 'kind' | 'onRound'> {
  place: Workplace;
  /** How many were dropped so far. */
  items: number;
}

export async function sweepKills({
  kind,
  mode,
  deaths,
  phase,
  engine = 'sqlite',
  onRound,
}: SweepOptions): Promise<KillReport> {
  const sandbox = await startSandbox({ churn: false, vehicles: 2, ...mode.sandbox(kind) });
  const warehouse = await makePlace(engine);
  const settings = `warehouse: ${JSON.stringify(warehouse.settings)}\n${settingsOf(kind, mode)}`;
  const place = makeWorkplace(configFor(sandbox.url, settings, QUICK.timeout), warehouse);
  const sweep: Sweep = { place, kind, items: 0, ...(onRound && { onRound }) };
  try {
    const steps = await calmSteps(sweep);
    const figures = await killAll(sweep, deaths, steps, recoverySteps(steps, phase));
    sandbox.clearFaults();
    await finish(sweep);
    const { job } = kind;
    const verdict = await verdictOf(sweep, sandbox);
    return { job, engine, mode: mode.name, steps, ...figures, ...verdict };
  } finally {
    place.remove();
    await warehouse.remove();
    await sandbox.close();
  }
}

function settingsOf({ feed, job }: KillCase, { settle }: KillMode): string {
  return `erp: { ${feed}: { source: files, folder: drop, settle: 0s } }
jobs: { ${job}: { settle: ${settle} } }
`;
}

/** Kills a run at each of the steps that it reaches, and the run that recovers from it. */
async function killAll(sweep: Sweep, deaths: Iterable<Death>, steps: number, recovery: RecoverySteps) {
  const figures = { aimed: 0, missed: 0, rounds: 0, killed: 0, again: 0 };
  for (const death of deaths) {
    if (death.at > LONGEST_RUN * steps) break;
    const isBeyond = death.at > steps;
    let most = 0;
    for (let tries = 0; most < 2 && tries < (isBeyond ? TRIES_BEYOND : MOST_TRIES); tries++) {
      const died = await killTwice(sweep, death, recovery);
      most = Math.max(most, died);
      figures.rounds++;
      sweep.onRound?.();
      if (died >= 1) figures.killed++;
      if (died === 2) figures.again++;
    }
    if (isBeyond && most < 2) break;
    figures.aimed++;
    if (most < 2) figures.missed++;
  }
  return figures;
}

/** How many of two processes died; the one after the last death goes to its end. */
async function killTwice(sweep: Sweep, death: Death, recovery: RecoverySteps): Promise<number> {
  drop(sweep);
  if ((await stepsUntil(sweep, death)) !== DIED) return 0;
  const at = recovery.next();
  const steps = await stepsUntil(sweep, { at });
  if (steps !== DIED) {
    recovery.wasOver(steps);
    return 1;
  }
  recovery.died(at);
  await run(sweep);
  return 2;
}

const run = ({ place, kind }: Sweep, env: Record<string, string> = {}) => place.run(['run', kind.job, '--json'], env);

const DIED = 'died';

/** Runs to its death; the steps it had, where it was over before. */
async function stepsUntil(sweep: Sweep, { at, only }: Death): Promise<number | typeof DIED> {
  const file = join(sweep.place.dir, 'steps.txt');
  const { signal } = await run(sweep, {
    NODE_OPTIONS: `--import=${PRELOAD}`,
    STEPS_FILE: file,
    KILL_AT: String(at),
    ...(only !== undefined && { KILL_STEP: only }),
  });
  return signal === 'SIGKILL' ? DIED : readFileSync(file, 'utf8').split('\n').length;
}

/** How many steps a run has that takes, sends, confirms and acknowledges one item; the very first also makes the schema. */
async function calmSteps(sweep: Sweep): Promise<number> {
  drop(sweep);
  await run(sweep);
  drop(sweep);
  const steps = await stepsUntil(sweep, { at: 0 });
  if (steps === DIED) throw new Error('a run that nobody killed is dead');
  return steps;
}

async function finish(sweep: Sweep): Promise<void> {
  for (let runs = 0; runs < MOST_RUNS; runs++) {
    await run(sweep);
    if ((await openEntries(sweep.place)) === 0) return;
    await pause(REST_MS);
  }
}

async function verdictOf({ place, kind, items }: Sweep, sandbox: Sandbox) {
  const accepted = twiceAndLost(sandbox.ledger()[kind.ledger], kind.name, items);
  return { items, ...accepted, open: await openEntries(place) };
}

function drop(sweep: Sweep): void {
  dropItem(sweep.place, sweep.kind, sweep.items++);
}
