// Kills the real process at counted steps of a run, runs it again, and holds the warehouse against one that was
// never killed: every row, every mark, every covered period.
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { tables } from '../../src/warehouse/catalog.ts';
import { configFor, makeWorkplace, openDatabase, type Workplace } from './workplace.ts';

const SWITCH = resolve(import.meta.dirname, 'kill-at.ts');
const DAY_MS = 86_400_000;

/** Live runs where the end of time does not change the content, a fixed period where it would. */
export const PULLS: Readonly<Record<string, readonly string[]>> = {
  'pull-vehicles': [],
  'pull-drivers': [],
  'pull-points-of-interest': [],
  'pull-events': [],
  'pull-route-plans': [],
  'pull-daily-summaries': [],
  'pull-itineraries': period(6),
  'pull-checklists': period(3),
};

const OPTIONS = `jobs:
  pull-events: { since: 3d }
  pull-route-plans: { since: 3d }
  pull-daily-summaries: { since: 3d }
`;

/** The far end of `since` moves on with the clock; what lies there is left out of the comparison. */
const NEARER: Readonly<Record<string, string>> = {
  event: `begin_date > '${new Date(Date.now() - 2.5 * DAY_MS).toISOString()}'`,
};

function period(days: number): string[] {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  return ['--from', day(today - days * DAY_MS), '--to', day(today)];
}

export interface SweepResult {
  job: string;
  kills: number;
  steps: number;
  /** Kills after which the warehouse was not what it should be. */
  wrong: number[];
}

export async function sweep(job: string, kills: number): Promise<SweepResult> {
  const sandbox = await startSandbox({ vehicles: 4, stepped: true });
  const base = makeWorkplace(configFor(sandbox.url, OPTIONS));
  try {
    const args = ['run', job, ...(PULLS[job] ?? [])];
    await prepare(base, args);
    const calm = await calmRun(base, sandbox, args);
    const wrong: number[] = [];
    for (let index = 1; index <= kills; index++) {
      const at = Math.max(1, Math.round((index * calm.steps) / (kills + 1)));
      if ((await killedRun(base, sandbox, args, at)) !== calm.content) wrong.push(at);
    }
    return { job, kills, steps: calm.steps, wrong };
  } finally {
    base.remove();
    await sandbox.close();
  }
}

/** A warehouse that already holds an earlier state, so that the swept run inserts, updates and marks. */
async function prepare(base: Workplace, args: string[]): Promise<void> {
  for (const job of ['pull-vehicles', 'pull-drivers']) await succeed(base, ['run', job]);
  await succeed(base, args);
  const database = openDatabase(join(base.dir, 'data', 'warehouse.db'));
  const spoiled = tables.filter(({ kind }) => kind === 'base');
  for (const { name, key } of spoiled) {
    await database
      .raw(`delete from "${name}" where rowid % 3 = 0`)
      .catch(() =>
        database.raw(`delete from "${name}" where ${key[0]} in (select ${key[0]} from "${name}" limit 20)`),
      );
    await database(name).update({ extra: '{"spoiled":true}' }).whereRaw(`length(_run_id) > 0`);
  }
  await database('status_change').delete();
  await database('sync_coverage').delete();
  await database.destroy();
}

async function calmRun(base: Workplace, sandbox: Sandbox, args: string[]) {
  const place = copyOf(base, sandbox);
  const stepsFile = join(place.dir, 'steps');
  await succeed(place, args, { NODE_OPTIONS: `--import=${SWITCH}`, STEPS_FILE: stepsFile });
  const content = await contentOf(place);
  const steps = readFileSync(stepsFile, 'utf8').split('\n').length;
  place.remove();
  return { content, steps };
}

async function killedRun(base: Workplace, sandbox: Sandbox, args: string[], at: number): Promise<string> {
  const place = copyOf(base, sandbox);
  const killed = await place.run(args, { NODE_OPTIONS: `--import=${SWITCH}`, KILL_AT: String(at) });
  if (killed.signal !== 'SIGKILL') throw new Error(`not killed at step ${at}: ${killed.stderr}`);
  await succeed(place, args);
  const content = await contentOf(place);
  place.remove();
  return content;
}

function copyOf(base: Workplace, sandbox: Sandbox): Workplace {
  const place = makeWorkplace(configFor(sandbox.url, OPTIONS));
  cpSync(join(base.dir, 'data'), join(place.dir, 'data'), { recursive: true });
  rmSync(join(place.dir, 'data', 'sandbox.jsonl'), { force: true });
  return place;
}

async function succeed(place: Workplace, args: string[], env: Record<string, string> = {}): Promise<void> {
  const { code, stdout, stderr } = await place.run(args, env);
  if (code !== 0) throw new Error(`${args.join(' ')} exited ${code}: ${stdout} ${stderr}`);
}

/** Everything that does not depend on when and by which run it was written. */
async function contentOf(place: Workplace): Promise<string> {
  const parts: unknown[] = [];
  for (const { name, kind, columns, key } of tables) {
    if (kind !== 'base' && !['status_change', 'daily_summary_revision', 'sync_coverage'].includes(name))
      continue;
    const kept = columns.map((column) => column.name).filter((column) => !VOLATILE.test(column));
    const order = key.filter((column) => !VOLATILE.test(column)).map((column) => `"${column}"`);
    const select = [
      ...kept.map((column) => `"${column}"`),
      ...(kind === 'base' ? ['_missing_since is null as listed'] : []),
    ];
    parts.push(
      name,
      await place.query(
        `select ${select.join(', ')} from "${name}" where ${NEARER[name] ?? 'true'} order by ${order.join(', ')}`,
      ),
    );
  }
  return JSON.stringify(parts);
}

/** Instants and names of runs; the end of a listing's coverage is the moment it was read. */
const VOLATILE =
  /^_(?:first_seen_at|changed_at|run_id|missing_since)$|^(?:observed_at|covered_at|run_id|begin_at|end_at|fetched_at)$/;
