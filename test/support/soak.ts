// A real daemon with every job due again and again, against a service with chaos on, for as long as it is told. What
// it holds is sampled from inside its process; the size of the write-ahead log from outside.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadJobs } from '../../src/app.ts';
import { type Fault, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type KillCase, planCases } from './kill-cases.ts';
import type { Sample } from './process-probe.ts';
import { configFor, makeWorkplace, type Workplace } from './workplace.ts';

const PROBE = join(import.meta.dirname, 'process-probe.ts');
const [PLANS] = planCases as [KillCase];
const MB = 1_048_576;
const FIRST_RUN_MS = 30_000;

export interface SoakOptions {
  minutes: number;
  /** Six cron fields. */
  schedule: string;
}

export interface SoakReport {
  minutes: number;
  /** Of the daemon, not of what is run by hand afterwards. */
  runs: number;
  /** Runs that failed whole, which chaos may cause. */
  failed: number;
  requests: number;
  faults: number;
  samples: number;
  /** MB; the mean of the second quarter and of the last. */
  rss: { early: number; late: number; most: number };
  heap: { early: number; late: number };
  /** Growth of the lowest heap of each tenth, from the second quarter on, in MB an hour. */
  heapSlope: number;
  files: { early: number; late: number; most: number };
  walMb: number;
  delayMs: { mean: number; p99: number; most: number };
  things: number;
  twice: number;
  lost: number;
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
  const place = makeWorkplace(configFor(sandbox.url, await sectionsOf(schedule)));
  const probe = join(place.dir, 'probe');
  try {
    const daemon = place.start(['start'], {
      NODE_OPTIONS: `--max-semi-space-size=8 --import=${PROBE}`,
      PROBE_FILE: probe,
    });
    await daemon.printed(/is running/);
    const endMs = Date.now() + minutes * 60_000;
    let [things, walMb] = [0, 0];
    // A busy machine may need longer for a first run; without one there is nothing to tell.
    const isOver = async () => Date.now() >= endMs + FIRST_RUN_MS || (await runsIn(place)).runs > 0;
    while (Date.now() < endMs || !(await isOver())) {
      drop(place, things++);
      await pause(Math.min(2_000, Math.max(500, endMs - Date.now())));
      walMb = Math.max(walMb, sizeOf(join(place.dir, 'data', 'warehouse.db-wal')) / MB);
    }
    const faults = total(sandbox.ledger().faults_injected);
    sandbox.clearFaults();
    daemon.kill('SIGTERM');
    const { code } = await daemon.ended;
    const counts = await runsIn(place);
    // What chaos left open, or was dropped last, is for runs in fair weather.
    for (let runs = 0; runs < 10; runs++) {
      await place.run(['run', PLANS.job]);
      if ((await openEntries(place)) === 0) break;
    }
    const accepted = Array.from({ length: things }, (_, n) => sandbox.ledger().plans[PLANS.name(n)] ?? 0);
    return {
      minutes,
      ...counts,
      requests: total(sandbox.ledger().requests),
      faults,
      ...figuresOf(samplesIn(probe)),
      walMb,
      things,
      twice: accepted.filter((times) => times > 1).length,
      lost: accepted.filter((times) => times === 0).length,
      exit: code,
    };
  } finally {
    place.remove();
    await sandbox.close();
  }
}

async function sectionsOf(schedule: string): Promise<string> {
  const jobs = (await loadJobs()).map(
    ({ name }) => `  ${name}: { schedule: "${schedule}"${optionsOf(name)} }`,
  );
  return `erp: { route_plans: { source: files, folder: drop, settle: 0s } }
jobs:
${jobs.join('\n')}
`;
}

const optionsOf = (job: string): string =>
  job === PLANS.job
    ? ', settle: 0s, check_before_send: false'
    : /^pull-(?:events|route-plans|daily-summaries|itineraries|checklists)$/.test(job)
      ? ', since: 3d'
      : '';

function drop({ dir }: Workplace, n: number): void {
  mkdirSync(join(dir, 'drop'), { recursive: true });
  writeFileSync(join(dir, 'drop', `${n}.json`), JSON.stringify(PLANS.thing(n)));
}

async function runsIn(place: Workplace): Promise<{ runs: number; failed: number }> {
  const [row] = await place.query<{ runs: number; failed: number }>(
    `select count(*) as runs, coalesce(sum(status = 'failed'), 0) as failed from sync_run`,
  );
  return { runs: Number(row?.runs), failed: Number(row?.failed) };
}

async function openEntries(place: Workplace): Promise<number> {
  const waiting = `select count(*) as n from push_outbox where state <> 'confirmed' or told_at is null`;
  const [row] = await place.query<{ n: number }>(waiting);
  return Number(row?.n);
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
const total = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((sum, n) => sum + n, 0);

const samplesIn = (file: string): Sample[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Sample);

/** The first quarter warms up. */
function figuresOf(samples: readonly Sample[]) {
  const quarter = samples.length / 4;
  const warm = samples.slice(quarter);
  const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(3 * quarter)];
  const delays = warm.map(({ delayMax }) => delayMax).sort((a, b) => a - b);
  const between = (figure: 'rss' | 'heap' | 'files') => ({
    early: mean(early.map((sample) => sample[figure])),
    late: mean(late.map((sample) => sample[figure])),
    most: Math.max(...samples.map((sample) => sample[figure])),
  });
  return {
    samples: samples.length,
    rss: between('rss'),
    heap: between('heap'),
    heapSlope: slopeOf(warm),
    files: between('files'),
    delayMs: {
      mean: mean(warm.map(({ delayMean }) => delayMean)),
      p99: delays[Math.floor(delays.length * 0.99)] ?? 0,
      most: delays.at(-1) ?? 0,
    },
  };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** By least squares over the lowest heap of each tenth: what is left after collection. */
function slopeOf(samples: readonly Sample[]): number {
  const size = Math.max(1, Math.floor(samples.length / 10));
  const lowest: { hours: number; mb: number }[] = [];
  for (let start = 0; start + size <= samples.length; start += size) {
    const part = samples.slice(start, start + size);
    const low = part.reduce((best, sample) => (sample.heap < best.heap ? sample : best));
    lowest.push({ hours: low.at / 3_600_000, mb: low.heap });
  }
  const [hours, mb] = [mean(lowest.map((each) => each.hours)), mean(lowest.map((each) => each.mb))];
  const over = lowest.reduce((sum, each) => sum + (each.hours - hours) * (each.mb - mb), 0);
  const under = lowest.reduce((sum, each) => sum + (each.hours - hours) ** 2, 0);
  return under === 0 ? 0 : over / under;
}
