// The disk of the real process is full from a counted step of its run on: the system itself rejects every later write.
// The process has to say so in plain words; once there is room, the same command has to reach the same end.
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import PQueue from 'p-queue';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { configFor, type Ended, makeWorkplace, QUICK, type Workplace } from '../process/workplace.ts';
import { dropItem, openEntries } from '../push/dropped-items.ts';
import { planCase } from './kill-cases.ts';
import { contentOf } from './pull-kills.ts';

const SWITCH = join(import.meta.dirname, 'kill-at.ts');
const PLANS = planCase;
const SETTINGS = `warehouse: { images: data/images }
erp: { route_plans: { source: files, folder: drop, settle: 0s } }
jobs: { pull-checklists: { since: 3d }, push-route-plans: { settle: ${QUICK.settle} } }
`;
/** The errors that a full disk may cause; any other is not plain. */
const PLAIN = [
  'warehouse_full',
  'warehouse_unwritable',
  'images_unwritable',
  'secret_unwritable',
  'erp_folder_full',
  'export_unwritable',
];
const MOST_RUNS = 8;
/** Between runs that did not end well: an item that a push did not find has to stay absent for a while. */
const REST_MS = 1_000;

export interface FullDiskOptions {
  work: keyof typeof WORKS;
  /** At most so many steps at which the room ends, spread over the run. */
  times: number;
  /** A folder on a disk of its own that is filled up; without it the system takes the room from the process. */
  disk?: string;
  /** How many processes meet it at a time; a disk is filled for one. Default 1. */
  atOnce?: number;
}

export interface FullDiskReport {
  work: string;
  times: number;
  steps: number;
  /** Runs that ended well. */
  unharmed: number;
  /** Steps after which the run ended well though something was to be written; on a disk that may find room. */
  unmoved: number[];
  /** Steps that the run never reached. */
  missed: number[];
  /** Codes of the errors that the others ended with, and how often. */
  errors: Record<string, number>;
  /** Steps after which the error was not plain. */
  unclear: number[];
  /** Steps after which the end was wrong. */
  wrong: number[];
}

interface Work {
  args: string[];
  /**
   * Writes at its end that may fail unnoticed. The last write of a run removes the row of its process; a row that stays is
   * found dead by the next process.
   */
  lastWrites: 0 | 1;
  /** A command that runs before, once for all attempts. */
  first?: string[];
  /** Sets up one attempt; `n` is its number. */
  prepare(place: Workplace, n: number): Promise<void>;
  /** The same after every whole run. */
  outcome(place: Workplace, n: number, sandbox: Sandbox): Promise<string>;
}

const WORKS = {
  'pull of rows and pictures': {
    args: ['run', 'pull-checklists', '--json'],
    lastWrites: 1,
    prepare: async () => undefined,
    outcome: async (place) => (await contentOf(place)) + filesIn(join(place.dir, 'data', 'images')),
  },
  'push from a drop folder': {
    args: ['run', PLANS.job, '--json'],
    lastWrites: 1,
    prepare: async (place, n) => dropItem(place, PLANS, n),
    async outcome(place, n, sandbox) {
      const open = await openEntries(place);
      const result = readdirSync(join(place.dir, 'drop', 'done'))
        .sort()
        .join(' ')
        .replaceAll(String(n), 'n');
      return `${sandbox.ledger().plans[PLANS.name(n)]} accepted, ${open} open, ${result}`;
    },
  },
  'export of tables': {
    args: ['export', '--format', 'csv', '--out', 'out', '--json'],
    lastWrites: 0,
    first: ['run', 'pull-vehicles'],
    prepare: async () => undefined,
    outcome: async ({ dir }) => filesIn(join(dir, 'out')),
  },
} as const satisfies Record<string, Work>;

export const FULL_DISK_WORKS = Object.keys(WORKS) as (keyof typeof WORKS)[];

export async function fillDisk(options: FullDiskOptions): Promise<FullDiskReport> {
  const { work: name, disk, atOnce = 1 } = options;
  const sandbox = await startSandbox({ vehicles: 3, churn: false, stepped: true });
  const work: Work = WORKS[name];
  const before = makeWorkplace(configFor(sandbox.url, SETTINGS, QUICK.timeout));
  const newPlace = async (n: number): Promise<Workplace> => {
    const place = placeIn(disk, () => makeWorkplace(configFor(sandbox.url, SETTINGS, QUICK.timeout)));
    if (work.first !== undefined) cpSync(join(before.dir, 'data'), join(place.dir, 'data'), { recursive: true });
    await work.prepare(place, n);
    return place;
  };
  try {
    if (work.first !== undefined) await before.run(work.first);
    const { outcome, steps } = await calm(work, await newPlace(0), sandbox);
    const times = Math.min(options.times, steps);
    const report: FullDiskReport = {
      work: name,
      times,
      steps,
      unharmed: 0,
      unmoved: [],
      missed: [],
      errors: {},
      unclear: [],
      wrong: [],
    };
    const attempt = async (n: number): Promise<void> => {
      const at = times === steps ? n : Math.max(1, Math.round((n * steps) / (times + 1)));
      const place = await newPlace(n);
      const env = { NODE_OPTIONS: `--import=${SWITCH}`, KILL_AT: String(at), FILL: disk ?? 'limit' };
      const ended = await place.run(work.args, env);
      if (disk !== undefined) rmSync(join(disk, 'filler'), { force: true });
      note(report, at, ended, work);
      if (!(await comesRight(work, place, n, sandbox, outcome))) report.wrong.push(at);
      place.remove();
    };
    const queue = new PQueue({ concurrency: disk === undefined ? atOnce : 1 });
    await queue.addAll(Array.from({ length: times }, (_, i) => () => attempt(i + 1)));
    return report;
  } finally {
    before.remove();
    await sandbox.close();
  }
}

/** Records the outcome of the run without room. */
function note(report: FullDiskReport, at: number, ended: Ended, { lastWrites }: Work): void {
  const left = /^no room for (?<steps>\[.*\])$/m.exec(ended.stderr)?.groups?.steps;
  if (left === undefined) report.missed.push(at);
  const code = errorCodeOf(ended);
  if (code === undefined) {
    report.unharmed++;
    if (left !== undefined && writesIn(JSON.parse(left)) > lastWrites) report.unmoved.push(at);
    return;
  }
  report.errors[code] = (report.errors[code] ?? 0) + 1;
  if (!PLAIN.includes(code)) report.unclear.push(at);
}

/** How many writes begin at the step where room ends, or after it. */
const writesIn = (left: readonly string[]): number =>
  left.filter((step) => /^(?:commit|writeFile|appendFile|stream) begins$/.test(step)).length;

/** Workplaces are made where temporary files go. */
function placeIn(folder: string | undefined, make: () => Workplace): Workplace {
  const before = process.env.TMPDIR;
  if (folder !== undefined) process.env.TMPDIR = folder;
  try {
    return make();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

async function calm(work: Work, place: Workplace, sandbox: Sandbox): Promise<{ outcome: string; steps: number }> {
  const stepsFile = join(place.dir, 'steps');
  const ended = await place.run(work.args, { NODE_OPTIONS: `--import=${SWITCH}`, STEPS_FILE: stepsFile });
  if (ended.code !== 0) throw new Error(`${work.args.join(' ')} exited ${ended.code}: ${ended.stderr}`);
  const outcome = await work.outcome(place, 0, sandbox);
  const steps = readFileSync(stepsFile, 'utf8').split('\n').length;
  place.remove();
  return { outcome, steps };
}

/** With room again; a push may take some runs until it has found the items it sent. */
async function comesRight(work: Work, place: Workplace, n: number, sandbox: Sandbox, outcome: string) {
  for (let runs = 0; runs < MOST_RUNS; runs++) {
    if (runs > 0) await pause(REST_MS);
    const { code } = await place.run(work.args);
    if (code === 0 && (await work.outcome(place, n, sandbox)) === outcome) return true;
  }
  return false;
}

/** Undefined where it ended well. */
function errorCodeOf({ code, signal, stdout }: Ended): string | undefined {
  if (code === 0) return undefined;
  if (signal !== null) return signal;
  try {
    const { error } = JSON.parse(stdout) as { error: { code: string } | null };
    return error?.code ?? 'no error';
  } catch {
    return 'no JSON';
  }
}

/** Names and contents, without the export's own metadata and its freshness. */
function filesIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .filter(({ name }) => !/^(?:export\.json|bi_freshness\.csv)$/.test(name))
    .map(({ parentPath, name }) => {
      const bytes = readFileSync(join(parentPath, name));
      const content = name.endsWith('.csv') ? lastingCells(bytes) : bytes;
      return `${name} ${createHash('sha256').update(content).digest('hex')}`;
    })
    .sort()
    .join('\n');
}

/** All cells except when and by which run a row was written. */
function lastingCells(bytes: Buffer): string {
  const rows: Record<string, string>[] = parse(bytes, { columns: true, bom: true });
  return JSON.stringify(rows.map((row) => Object.entries(row).filter(([column]) => !VOLATILE.includes(column))));
}

const VOLATILE: readonly string[] = ['_first_seen_at', '_changed_at', '_run_id', 'observed_at', 'run_id'];
