// Several real processes on one PostgreSQL that share the slices of a pull: how much faster they are, and whether all
// work is done when they are killed and stopped at random.
import { setTimeout as pause } from 'node:timers/promises';
import { loadJobs } from '../../../src/app/app.ts';
import { seededRandom } from '../../../src/sandbox/made-up/seeded-random.ts';
import { type Ledger, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace, type Running, type Workplace } from '../process/workplace.ts';
import { dropMany, verdictOf } from '../push/push-many.ts';
import { type EnginePlace, makePlace } from '../warehouse/engines.ts';

/** One call a slice, two slices a day. */
const PULL = 'pull-daily-summaries';
const DAY_MS = 86_400_000;

export interface Setting {
  latencyMs: number;
  /** Slices at once in one process. */
  workers: number;
  days: number;
}

export interface Timed {
  processes: number;
  ms: number;
  slices: number;
  rows: string[];
}

/** The command that plans works slices as well, so it is one of the processes. */
export async function timeBackfill(processes: number, setting: Setting): Promise<Timed> {
  const { place, database, close } = await open(setting, { processes });
  try {
    await mustRun(place, ['run', 'pull-vehicles']);
    const helpers = Array.from({ length: processes - 1 }, () => place.start(['start']));
    await Promise.all(helpers.map((each) => each.printed(/is running/)));
    await mustRun(place, ['backfill', PULL, ...period(setting.days)]);
    const [run] = await place.query<{ started_at: string; finished_at: string; slices: number }>(
      "select * from sync_run where cause = 'backfill'",
    );
    if (run === undefined) throw new Error('no run was made');
    return {
      processes,
      ms: Date.parse(run.finished_at) - Date.parse(run.started_at),
      slices: Number(run.slices),
      rows: await rowsOf(place),
    };
  } finally {
    await close();
    await database.remove();
  }
}

export interface HitReport {
  kills: number;
  stops: number;
  /** Of the command that had a past read while the daemons which help it were hit. */
  backfillCode: number | null;
  /** Runs that were cut off by it. */
  abandoned: number;
  /** Runs that ended with some of their work, and with none. */
  partial: number;
  failed: number;
  /** Those of them that nothing explains which was done to the daemons: job, status and error code of each. */
  unexplained: string[];
  plans: { twice: number; lost: number };
  /** Runs that were left as running, and runs whose counts do not add up. */
  leftRunning: number;
  unbalanced: number;
  /** Rows that reading the past days once more brings. */
  missing: number;
  rows: number;
  seconds: number;
}

const TEMPORARY = 75;

/**
 * Daemons that pull a long past, push many plans and help a backfill of another past, hit until all three are done; then
 * one more read.
 */
export async function hitScaledDaemons(
  setting: Setting & { seed: number; daemons: number; plans: number; restMs: [number, number] },
): Promise<HitReport> {
  const { plans, daemons: many, seed, restMs } = setting;
  const begun = Date.now();
  const { place, ledger, database, close } = await open(setting, { processes: many, plans });
  try {
    await mustRun(place, ['run', 'pull-vehicles']);
    dropMany(place.dir, plans);
    const random = seededRandom('scale', seed);
    /** As a supervisor does: a start that ends with 75 (temporary) is repeated. Stalled daemons may hold the writer for long. */
    const begin = async (): Promise<Running> => {
      const daemon = place.start(['start']);
      const isUp = await daemon.printed(/is running/).then(
        () => true,
        () => false,
      );
      if (isUp) return daemon;
      const { code, stderr } = await daemon.ended;
      if (code !== TEMPORARY) throw new Error(`a daemon ended with ${code}: ${stderr}`);
      return begin();
    };
    const daemons = await Promise.all(Array.from({ length: many }, begin));
    const recoveries = new Set<Promise<void>>();
    const down = new Set<number>();
    const blows = { kills: 0, stops: 0 };
    const stops: Stop[] = [];

    const recover = async (index: number): Promise<void> => {
      const daemon = daemons[index] as Running;
      if (random.chance(0.6)) {
        blows.kills++;
        daemon.kill('SIGKILL');
        await daemon.ended;
        daemons[index] = await begin();
      } else {
        blows.stops++;
        const fromMs = Date.now();
        daemon.kill('SIGSTOP');
        await pause(random.int(1_000, 40_000));
        daemon.kill('SIGCONT');
        stops.push({ pid: daemon.pid, fromMs, toMs: Date.now() });
      }
      down.delete(index);
    };

    const backfill = place.run(['backfill', PULL, ...period(setting.days)]);
    const isEnded = endOf(backfill);
    while (!isEnded() || !(await isDone(place, plans))) {
      await pause(random.int(...restMs));
      if (down.size >= many - 1) continue;
      const index = random.pick(daemons.map((_, at) => at).filter((at) => !down.has(at)));
      down.add(index);
      const recovery = recover(index).finally(() => recoveries.delete(recovery));
      recoveries.add(recovery);
    }
    await Promise.all(recoveries);
    const { code: backfillCode, stderr } = await backfill;
    if (backfillCode !== 0) process.stderr.write(stderr);
    for (const daemon of daemons) daemon.kill('SIGTERM');
    await Promise.all(daemons.map(({ ended }) => ended));
    const runs = await place.query<Run>('select * from sync_run');
    const sum = (run: Run, names: string[]) => names.reduce((total, name) => total + Number(run[name]), 0);
    const ended = (as: string): number => runs.filter(({ status }) => status === as).length;
    return {
      ...blows,
      backfillCode,
      abandoned: ended('abandoned'),
      partial: ended('partial'),
      failed: ended('failed'),
      unexplained: runs.filter((run) => isUnexplained(run, stops)).map(inWords),
      plans: verdictOf(ledger(), plans),
      leftRunning: ended('running'),
      unbalanced: runs.filter(
        (run) => sum(run, ['inserted', 'updated', 'unchanged', 'quarantined']) !== Number(run.records),
      ).length,
      missing: await missingRows(place, setting.days),
      rows: (await rowsOf(place)).length,
      seconds: Math.round((Date.now() - begun) / 1_000),
    };
  } finally {
    await close();
    await database.remove();
  }
}

type Run = Record<string, number | string | null>;

interface Stop {
  pid: number;
  fromMs: number;
  toMs: number;
}

/**
 * A killed daemon's run is abandoned, and others do the rest: that is no failure of a run. A run may end short
 * where it was asked to stop, where its own process stood still meanwhile and lost its session, and where the answer to a
 * plan was lost, which is read back by the next.
 */
function isUnexplained(run: Run, stops: readonly Stop[]): boolean {
  if (run.status !== 'partial' && run.status !== 'failed') return false;
  if (run.error_code === 'stopped') return false;
  if (run.error_code === null && Number(run.unknown) > 0) return false;
  const [began, ended] = [run.started_at, run.finished_at].map((at) => Date.parse(String(at))) as [number, number];
  return !stops.some(({ pid, fromMs, toMs }) => pid === Number(run.pid) && fromMs <= ended && toMs >= began);
}

const inWords = ({ job, cause, status, error_code, error }: Run): string =>
  `${job} (${cause}) ${status}: ${error_code ?? 'no error'} ${error ?? ''}`.trim();

/** Reads the same days once more: every row that the service still adds was missing. */
async function missingRows(place: Workplace, days: number): Promise<number> {
  const { stdout } = await place.run(['run', PULL, '--json', ...period(days - 12)]);
  const { status, records, inserted, updated } = JSON.parse(stdout);
  if (status !== 'ok' || records === 0) throw new Error(`the last read failed: ${stdout}`);
  return inserted + updated;
}

/** All plans are confirmed, and the last pull that came to an end has brought all it planned. */
async function isDone(place: Workplace, plans: number): Promise<boolean> {
  const [row] = await place.query<{ confirmed: number; pulled: string | null }>(
    `select (select count(*) from push_outbox where state = 'confirmed') as confirmed,
      (select status from sync_run where job = '${PULL}' and cause <> 'backfill'
        and status in ('ok', 'partial', 'failed') order by started_at desc limit 1) as pulled`,
  );
  return Number(row?.confirmed) >= plans && row?.pulled === 'ok';
}

function endOf(command: Promise<unknown>): () => boolean {
  let isEnded = false;
  void command.then(() => {
    isEnded = true;
  });
  return () => isEnded;
}

interface Opened {
  place: Workplace;
  database: EnginePlace;
  ledger(): Ledger;
  close(): Promise<void>;
}

async function open(
  { latencyMs, workers, days }: Setting,
  { processes, plans }: { processes: number; plans?: number },
): Promise<Opened> {
  const faults = [{ call: '*' as const, fault: 'latency' as const, ms: latencyMs }];
  const sandbox = await startSandbox({ vehicles: 12, churn: false, faults });
  const database = await makePlace('postgres');
  const { url, schema } = database.settings;
  const scale = processes === 1 ? '' : `scale: { dispatcher: pg-boss, workers: ${workers} }\n`;
  const due = plans === undefined ? 'enabled: false' : 'schedule: "*/5 * * * * *"';
  const jobs = (await loadJobs()).map(({ name }) => {
    if (name === PULL) return `  ${name}: { ${due}, since: ${days}d }`;
    return `  ${name}: { ${name === 'push-route-plans' ? due : 'enabled: false'} }`;
  });
  const config = configFor(
    sandbox.url,
    `  concurrency: ${processes === 1 ? workers : 64}
warehouse: { engine: postgres, url: "${url}", schema: ${schema} }
${scale}erp:
  route_plans: { source: files, folder: plans }
status: { port: 0 }
jobs:
${jobs.join('\n')}
`,
  );
  const place = makeWorkplace(config, database);
  return {
    place,
    database,
    ledger: sandbox.ledger,
    async close() {
      place.remove();
      await sandbox.close();
    },
  };
}

async function mustRun(place: Workplace, args: string[]): Promise<void> {
  const { code, stderr } = await place.run(args);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
}

/** Days that are over and do not change any more. */
function period(days: number): string[] {
  const end = Date.now() - 10 * DAY_MS;
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return ['--from', day(end - days * DAY_MS), '--to', day(end)];
}

/** The pulled rows, without when and by which run they were written. */
async function rowsOf(place: Workplace): Promise<string[]> {
  const rows = await place.query<Record<string, unknown>>('select * from daily_summary');
  return rows.map(({ _first_seen_at, _changed_at, _run_id, ...row }) => JSON.stringify(row)).sort();
}
