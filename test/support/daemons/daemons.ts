// Three real daemons on one warehouse, killed with -9 and stopped with SIGSTOP by the seed's choice, mostly those
// that are in the middle of a run. The figures are read from the warehouse afterwards.
import { setTimeout as pause } from 'node:timers/promises';
import { loadJobs } from '../../../src/app/app.ts';
import { seededRandom } from '../../../src/sandbox/made-up/seeded-random.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace, type Running, type Workplace } from '../process/workplace.ts';

const JOBS = ['pull-vehicles', 'pull-drivers', 'pull-points-of-interest'];
const SLOW_CALLS = ['vehicles', 'drivers', 'points-of-interest'] as const;
const DAEMONS = 3;

export interface DaemonsOptions {
  seed: number;
  /** Completed ticks to wait for. */
  ticks: number;
  /** Runs that have to be cut off by blows before it ends. */
  cutOff: number;
  /** Six cron fields. */
  schedule: string;
  /** How long the service takes to answer, ms: a run is long enough to be hit. */
  latencyMs: number;
  /** Pause between two blows, ms. */
  restMs: readonly [number, number];
  /** How long a stopped daemon stays so, ms; some are shorter than the lease, some longer. */
  stopMs: readonly (readonly [number, number])[];
  /** The `warehouse` section and a way to query it; default SQLite in the workplace. */
  warehouse?: { section: string; query<Row>(sql: string): Promise<Row[]> };
}

export interface DaemonsReport {
  ticks: number;
  completed: number;
  /** Ticks with more than one completed run. */
  doubled: number;
  /** Pairs of completed runs of one job that were under way at the same time. */
  overlapping: number;
  kills: number;
  stops: number;
  /** Runs that were cut off by a blow and taken over. */
  abandoned: number;
  /** Rows that a replaced daemon changed after its run had been given away. */
  lateWrites: number;
  /** From the blow that cut a run off to the next run of its job, ms. */
  longestTakeover: number;
  leftRunning: number;
  /** Exit codes of the daemons at the end. */
  exits: (number | null)[];
}

interface Blow {
  pid: number;
  kind: Kind;
  atMs: number;
  /** How long it is stopped; one that is killed stays so. */
  lastsMs: number;
}

interface Run {
  run_id: string;
  job: string;
  status: string;
  tick_at: string | null;
  started_at: string;
  finished_at: string | null;
  pid: number;
}

const DONE = ['ok', 'partial'];

export async function hitDaemons(options: DaemonsOptions): Promise<DaemonsReport> {
  const faults = SLOW_CALLS.map((call) => ({ call, fault: 'latency' as const, ms: options.latencyMs }));
  const sandbox = await startSandbox({ vehicles: 5, faults });
  const place = makeWorkplace(configFor(sandbox.url, await sectionsOf(options)));
  const query = options.warehouse?.query ?? place.query;
  try {
    const ring = await openRing(place);
    const blows = await strike(ring, options, query);
    const exits = await ring.end();
    return {
      ...judge(await query<Run>('select * from sync_run'), blows),
      ...counts(blows),
      exits,
      lateWrites: await lateWrites(query),
    };
  } finally {
    place.remove();
    await sandbox.close();
  }
}

async function sectionsOf({ schedule, warehouse }: DaemonsOptions): Promise<string> {
  const jobs = (await loadJobs()).map(({ name }) =>
    JOBS.includes(name) ? `  ${name}: { schedule: "${schedule}" }` : `  ${name}: { enabled: false }`,
  );
  return `${warehouse?.section ?? ''}status: { port: 0 }\njobs:\n${jobs.join('\n')}\n`;
}

type Query = Workplace['query'];
type Kind = 'kill' | 'stop';

interface Ring {
  daemons: Running[];
  restart(index: number): Promise<void>;
  end(): Promise<(number | null)[]>;
}

async function openRing(place: Workplace): Promise<Ring> {
  const begin = async (): Promise<Running> => {
    const daemon = place.start(['start']);
    await daemon.printed(/is running/);
    return daemon;
  };
  // One after another: the first makes the schema.
  const daemons = [await begin(), await begin(), await begin()];
  return {
    daemons,
    async restart(index) {
      daemons[index] = await begin();
    },
    end: () =>
      Promise.all(
        daemons.map(async (daemon) => {
          daemon.kill('SIGTERM');
          return (await daemon.ended).code;
        }),
      ),
  };
}

async function strike(
  { daemons, restart }: Ring,
  { seed, ticks, cutOff, restMs, stopMs }: DaemonsOptions,
  query: Query,
): Promise<Blow[]> {
  const random = seededRandom('daemons', seed);
  const blows: Blow[] = [];
  const down = new Set<number>();
  const recoveries = new Set<Promise<void>>();

  async function recover(index: number, { kind, lastsMs }: Blow): Promise<void> {
    const daemon = daemons[index] as Running;
    if (kind === 'kill') {
      daemon.kill('SIGKILL');
      await daemon.ended;
      await pause(random.int(500, 3_000));
      await restart(index);
    } else {
      daemon.kill('SIGSTOP');
      await pause(lastsMs);
      daemon.kill('SIGCONT');
    }
    down.delete(index);
  }

  const isEnough = async (): Promise<boolean> => {
    const [row] = await query<{ done: number; cut: number }>(
      `select count(distinct case when status in ('ok', 'partial') then job || tick_at end) as done,
        count(case when status = 'abandoned' then 1 end) as cut from sync_run`,
    );
    return Number(row?.done) >= ticks && Number(row?.cut) >= cutOff;
  };

  while (!(await isEnough())) {
    await pause(random.int(...restMs));
    // One of them always lives.
    if (down.size >= DAEMONS - 1) continue;
    const holders = await query<{ pid: number }>('select pid from sync_lease join sync_daemon on id = holder');
    const busy = daemons.findIndex(
      ({ pid }, index) => !down.has(index) && holders.some((row) => Number(row.pid) === pid),
    );
    const any = random.pick([0, 1, 2].filter((index) => !down.has(index)));
    const index = busy >= 0 && random.chance(0.8) ? busy : any;
    const kind: Kind = random.chance(0.6) ? 'kill' : 'stop';
    const lastsMs = kind === 'kill' ? Number.POSITIVE_INFINITY : random.int(...random.pick(stopMs));
    const blow = { pid: (daemons[index] as Running).pid, kind, atMs: Date.now(), lastsMs };
    down.add(index);
    blows.push(blow);
    const recovery = recover(index, blow).finally(() => recoveries.delete(recovery));
    recoveries.add(recovery);
  }
  await Promise.all(recoveries);
  return blows;
}

const counts = (blows: readonly Blow[]) => ({
  kills: blows.filter(({ kind }) => kind === 'kill').length,
  stops: blows.filter(({ kind }) => kind === 'stop').length,
});

function judge(runs: readonly Run[], blows: readonly Blow[]) {
  const done = runs.filter(({ status, tick_at }) => DONE.includes(status) && tick_at !== null);
  const byTick = Map.groupBy(done, ({ job, tick_at }) => `${job} ${tick_at}`);
  const abandoned = runs.filter(({ status }) => status === 'abandoned');
  return {
    ticks: byTick.size,
    completed: done.length,
    doubled: [...byTick.values()].filter((each) => each.length > 1).length,
    overlapping: [...Map.groupBy(done, ({ job }) => job).values()].reduce((sum, each) => sum + overlaps(each), 0),
    abandoned: abandoned.length,
    longestTakeover: Math.max(0, ...abandoned.map((run) => takeoverOf(run, runs, blows))),
    leftRunning: runs.filter(({ status }) => status === 'running').length,
  };
}

function overlaps(runs: readonly Run[]): number {
  const inOrder = runs.toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at));
  return inOrder.filter((run, index) => {
    const before = inOrder[index - 1];
    return before !== undefined && Date.parse(before.finished_at ?? '') > Date.parse(run.started_at);
  }).length;
}

/** From the blow that cut the run off: the one that still lasted when it was given away, or else the last before that. */
function takeoverOf(run: Run, runs: readonly Run[], blows: readonly Blow[]): number {
  const started = Date.parse(run.started_at);
  const next = Math.min(
    ...runs
      .filter(({ job, run_id }) => job === run.job && run_id !== run.run_id)
      .map(({ started_at }) => Date.parse(started_at))
      .filter((at) => at > started),
  );
  const givenAway = Date.parse(run.finished_at ?? '');
  const met = blows.filter(({ pid, atMs }) => pid === Number(run.pid) && atMs >= started && atMs <= givenAway);
  const blow = met.find(({ atMs, lastsMs }) => atMs + lastsMs >= givenAway) ?? met.at(-1);
  return next - (blow?.atMs ?? started);
}

async function lateWrites(query: Query): Promise<number> {
  let late = 0;
  for (const table of ['vehicle', 'driver', 'point_of_interest']) {
    const rows = await query<{ n: number }>(
      `select count(*) as n from ${table} t join sync_run r on r.run_id = t._run_id where r.status = 'abandoned' and t._changed_at > r.finished_at`,
    );
    late += Number(rows[0]?.n ?? 0);
  }
  return late;
}
