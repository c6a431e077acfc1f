// Kills the real process at counted steps of a run, kills the process that recovers, runs it once more,
// and holds the warehouse against one that was never killed: every row, every mark, every covered period.
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Knex } from 'knex';
import { loadJobs } from '../../../src/app/app.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { tables } from '../../../src/warehouse/schema/catalog.ts';
import { recordColumns, type Table } from '../../../src/warehouse/schema/table.ts';
import { configFor, makeWorkplace, type Workplace } from '../process/workplace.ts';
import { type EngineName, type EnginePlace, makePlace } from '../warehouse/engines.ts';

const SWITCH = resolve(import.meta.dirname, 'kill-at.ts');
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Added to an id, it is one that the service never gave. */
const FAR_AWAY = 900_000_000;

export const PULLS = (await loadJobs()).filter(({ into }) => into !== undefined);

/** Fixed periods of jobs whose content would change with the end of time; all others run live. */
const PERIODS: Readonly<Record<string, readonly string[]>> = {
  // One begins on each Monday: three weeks hold some on any day of the week.
  'pull-itineraries': period(20),
  'pull-checklists': period(3),
};

/** Covered periods are not read again, so that a run that marks a period covered without its rows never gets them. */
const OPTIONS = `jobs: ${JSON.stringify(
  Object.fromEntries(
    PULLS.filter(({ name, options }) => 'since' in options.shape && !(name in PERIODS)).map(({ name }) => [
      name,
      { since: '3d', lookback: '0s' },
    ]),
  ),
)}\n`;

/**
 * Both ends of the period that is read move on with the clock: the far end of `since`, and the near end, which is held
 * back by a minute. A later run reads other events there, so the comparison leaves them out.
 */
const COMPARED: Readonly<Record<string, string>> = {
  event: `begin_date > '${ago(2.5 * DAY_MS)}' and begin_date < '${ago(2 * MINUTE_MS)}'`,
};

function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}

function period(days: number): string[] {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  return ['--from', day(today - days * DAY_MS), '--to', day(today)];
}

export interface SweepOptions {
  job: string;
  /** Runs that are killed; each of them is killed again while the next one recovers. */
  kills: number;
}

/** A service, and a warehouse that holds its vehicles and drivers: every job is swept on copies of it. */
export interface Ground {
  engine: EngineName;
  sandbox: Sandbox;
  listed: Swept;
  close(): Promise<void>;
}

/** The others need them. */
const LISTED = ['pull-vehicles', 'pull-drivers'];

export interface SweepResult {
  job: string;
  engine: EngineName;
  kills: number;
  /** Of these, how many hit the recovery. */
  again: number;
  steps: number;
  /** The work of the run that was never killed. */
  work: Work;
  /** Steps of kills after which the warehouse was wrong. */
  wrong: number[];
}

/** Rows of each kind. */
export interface Work {
  inserted: number;
  updated: number;
  marked: number;
}

/** A workplace with its warehouse; gone with `remove`. */
interface Swept {
  place: Workplace;
  warehouse: EnginePlace;
  remove(): Promise<void>;
}

export async function openGround(engine: EngineName): Promise<Ground> {
  const sandbox = await startSandbox({ vehicles: 4, stepped: true });
  const listed = sweptIn(sandbox, await makePlace(engine));
  for (const job of LISTED) await succeed(listed.place, ['run', job]);
  return {
    engine,
    sandbox,
    listed,
    async close() {
      await listed.remove();
      await sandbox.close();
    },
  };
}

export async function sweep({ engine, sandbox, listed }: Ground, { job, kills }: SweepOptions): Promise<SweepResult> {
  const base = await copyOf(listed, sandbox);
  try {
    const args = ['run', job, ...(PERIODS[job] ?? [])];
    const damaged = tablesOf(job);
    if (!LISTED.includes(job)) await succeed(base.place, args);
    await spoil(base, damaged);
    const calm = await calmRun(base, sandbox, args, damaged);
    const wrong: number[] = [];
    let again = 0;
    const times = Math.min(kills, calm.steps);
    for (let index = 1; index <= times; index++) {
      const at = times === calm.steps ? index : Math.max(1, Math.round((index * calm.steps) / (times + 1)));
      // The second death goes round faster than the first, so that they meet in many pairs, within the remaining steps.
      const second = 1 + ((at * 7) % Math.max(1, calm.steps - at));
      const ended = await killedRun(base, sandbox, args, [at, second]);
      again += ended.deaths - 1;
      if (ended.content !== calm.content) wrong.push(at);
    }
    return { job, engine, kills: times + again, again, steps: calm.steps, work: calm.work, wrong };
  } finally {
    await base.remove();
  }
}

/** The tables with records that the job fills. */
function tablesOf(name: string): Table[] {
  const job = PULLS.find((each) => each.name === name);
  return (job?.tables ?? []).filter(({ kind }) => kind === 'base');
}

/** Turns the pulled rows into an earlier state, so that the swept run inserts, updates and marks. */
async function spoil({ warehouse }: Swept, damaged: Table[]): Promise<void> {
  const engine = await warehouse.open();
  await engine.write(async ({ sql }) => {
    for (const table of damaged) await damage(sql, table);
    await sql('status_change').delete();
    await sql('sync_coverage').delete();
  });
  await engine.close();
}

/** Of every three rows one is deleted, one gets other figures and another status, one gets a copy under an unknown key. */
async function damage(sql: Knex, table: Table): Promise<void> {
  const { name, key, columns, history } = table;
  const listed = (names: readonly string[]): string => names.map((each) => `"${each}"`).join(', ');
  // By the whole key; copies are not numbered.
  const third = (n: number): string => `(${listed(key)}) in (select ${listed(key)} from (
    select ${listed(key)}, row_number() over (order by ${listed(key)}) as n from "${name}" where _run_id <> 'copy'
  ) as numbered where n % 3 = ${n})`;
  const last = key.at(-1);
  const copy = columns.map((column) => {
    if (column.name === '_run_id') return `'copy'`;
    if (column.name !== last) return `"${column.name}"`;
    return column.type === 'integer' ? `"${last}" + ${FAR_AWAY}` : `"${last}" || ' gone'`;
  });
  const other = [
    `extra = '{"spoiled":true}'`,
    ...recordColumns(table)
      .filter(({ type }) => type === 'real')
      .map((column) => `"${column.name}" = "${column.name}" + 1`),
    ...(history === null ? [] : [`"${history}" = 'spoiled'`]),
  ];
  const all = listed(columns.map((column) => column.name));
  await sql.raw(`insert into "${name}" (${all}) select ${copy.join(', ')} from "${name}" where ${third(1)}`);
  await sql.raw(`update "${name}" set ${other.join(', ')} where ${third(2)}`);
  await sql.raw(`delete from "${name}" where ${third(0)}`);
}

async function workOf(place: Workplace, damaged: Table[]): Promise<Work> {
  const [run] = await place.query<{ run_id: string; inserted: number; updated: number }>(
    'select run_id, inserted, updated from sync_run order by started_at desc limit 1',
  );
  const marks = await Promise.all(
    damaged.map(({ name }) =>
      place.query(`select 1 from "${name}" where _missing_since is not null and _run_id = '${run?.run_id}'`),
    ),
  );
  return { inserted: Number(run?.inserted), updated: Number(run?.updated), marked: marks.flat().length };
}

async function calmRun(base: Swept, sandbox: Sandbox, args: string[], damaged: Table[]) {
  const swept = await copyOf(base, sandbox);
  const stepsFile = join(swept.place.dir, 'steps');
  await succeed(swept.place, args, { NODE_OPTIONS: `--import=${SWITCH}`, STEPS_FILE: stepsFile });
  const content = await contentOf(swept.place);
  const steps = readFileSync(stepsFile, 'utf8').split('\n').length;
  const work = await workOf(swept.place, damaged);
  await swept.remove();
  return { content, steps, work };
}

interface Killed {
  content: string;
  deaths: number;
}

/** The first process always dies: if it took fewer heartbeats than the calm run, at an earlier step. */
async function killedRun(
  base: Swept,
  sandbox: Sandbox,
  args: string[],
  [first = 0, second = 0]: readonly number[],
): Promise<Killed> {
  const swept = await copyOf(base, sandbox);
  const killAt = async (step: number) => {
    const { signal, stderr } = await swept.place.run(args, {
      NODE_OPTIONS: `--import=${SWITCH}`,
      KILL_AT: String(step),
    });
    return { isDead: signal === 'SIGKILL', stderr };
  };
  try {
    const { isDead, stderr } = await killAt(first);
    if (!isDead && first <= 1) throw new Error(`not killed at its first step: ${stderr}`);
    if (!isDead) return await killedRun(base, sandbox, args, [first - 1, second]);
    const again = await killAt(second);
    await succeed(swept.place, args);
    return { content: await contentOf(swept.place), deaths: again.isDead ? 2 : 1 };
  } finally {
    await swept.remove();
  }
}

function sweptIn(sandbox: Sandbox, warehouse: EnginePlace): Swept {
  const settings = `warehouse: ${JSON.stringify(warehouse.settings)}\n`;
  const place = makeWorkplace(configFor(sandbox.url, settings + OPTIONS), warehouse);
  return {
    place,
    warehouse,
    async remove() {
      place.remove();
      await warehouse.remove();
    },
  };
}

async function copyOf(base: Swept, sandbox: Sandbox): Promise<Swept> {
  const copy = sweptIn(sandbox, await base.warehouse.copy());
  cpSync(join(base.place.dir, 'data'), join(copy.place.dir, 'data'), { recursive: true });
  rmSync(join(copy.place.dir, 'data', 'sandbox.jsonl'), { force: true });
  return copy;
}

async function succeed(place: Workplace, args: string[], env: Record<string, string> = {}): Promise<void> {
  const { code, stdout, stderr } = await place.run(args, env);
  if (code !== 0) throw new Error(`${args.join(' ')} exited ${code}: ${stdout} ${stderr}`);
}

/** Everything that does not depend on when and by which run it was written. */
export async function contentOf(place: Workplace): Promise<string> {
  const parts: unknown[] = [];
  for (const { name, kind, columns, key } of tables) {
    if (kind !== 'base' && !ALSO.includes(name)) continue;
    const kept = columns.map((column) => column.name).filter((column) => !VOLATILE.test(column));
    const order = key.filter((column) => !VOLATILE.test(column)).map((column) => `"${column}"`);
    const select = [
      ...kept.map((column) => `"${column}"`),
      ...(kind === 'base' ? ['_missing_since is null as listed'] : []),
    ];
    parts.push(
      name,
      await place.query(
        `select ${select.join(', ')} from "${name}" where ${COMPARED[name] ?? 'true'} order by ${order.join(', ')}`,
      ),
    );
  }
  parts.push('bounds', (await boundsOf(place)).sort());
  return JSON.stringify(parts);
}

const ALSO = ['status_change', 'daily_summary_revision', 'sync_coverage', 'sync_quarantine'];

/** Instants and names of runs; the bounds of coverage are compared apart. */
const VOLATILE =
  /^_(?:first_seen_at|changed_at|run_id|missing_since)$|^(?:observed_at|covered_at|run_id|begin_at|end_at|fetched_at|(?:first|last)_seen_at)$/;

/** Covered periods; a bound that is no full hour is the moment of a read, or as long before it. */
async function boundsOf(place: Workplace): Promise<string[]> {
  const rows = await place.query<Record<'job' | 'scope' | 'begin_at' | 'end_at', string>>(
    'select job, scope, begin_at, end_at from sync_coverage',
  );
  const bound = (at: string): string => (at.endsWith(':00:00.000Z') ? at : 'some moment');
  return rows.map((row) => `${row.job} ${row.scope}: ${bound(row.begin_at)} to ${bound(row.end_at)}`);
}
