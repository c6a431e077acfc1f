// Four real daemons on one PostgreSQL, each with a job that has more to read than the rate allows. Every request takes
// its own time to the service. One daemon is killed and started again; at the end one of them is answered with 429.
// The ledger counts the arrivals and their times.
import { setTimeout as pause } from 'node:timers/promises';
import { loadJobs } from '../../../src/app/app.ts';
import { seededRandom } from '../../../src/sandbox/made-up/seeded-random.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { stopPostgres } from '../databases/postgres.ts';
import { startFront } from '../fleet/front.ts';
import { configFor, makeWorkplace, type Running, type Workplace } from '../process/workplace.ts';
import { makePlace } from '../warehouse/engines.ts';

/** Each daemon has one of them, so that all of them have work. */
const JOBS = {
  'pull-events': 'since: 30d',
  'pull-route-plans': 'since: 30d',
  'pull-daily-summaries': 'since: 700d',
  'pull-checklists': '',
};

export interface RateOptions {
  perMinute: number;
  concurrency: number;
  /** How long it is measured before the 429. */
  minutes: number;
  /** Time from a daemon to the service, from and to, ms. */
  wayMs: readonly [number, number];
  /** Pause that the 429 asks for, s. */
  pauseSeconds: number;
}

export interface RateReport {
  /** The ledger's own count: the most requests in any 60 s. */
  mostInAMinute: number;
  /** The fewest in any 60 s while there was work. */
  fewestInAMinute: number;
  requests: number;
  /** Requests of each job, as a sign that all daemons had a part. */
  byJob: Record<string, number>;
  /** How long after the 429 the last request arrived that was under way, s, and how long nothing arrived then. */
  pause: { lastAfterSeconds: number; silentSeconds: number };
  /** Live daemons as one of them reports. */
  liveDaemons: number;
  exits: (number | null)[];
}

interface Sample {
  atMs: number;
  total: number;
}

const SAMPLE_MS = 200;
const MINUTE_MS = 60_000;
/** Until the daemons are under way, at the start and after the pause. */
const WARM_MS = 20_000;

export async function shareRate(options: RateOptions): Promise<RateReport> {
  const sandbox = await startSandbox({ vehicles: 60 });
  const random = seededRandom('ways', 1);
  const front = await startFront(sandbox.url, async () => {
    await pause(random.int(...options.wayMs));
    return undefined;
  });
  const warehouse = await makePlace('postgres');
  const section = `warehouse:\n${Object.entries(warehouse.settings)
    .map(([name, value]) => `  ${name}: ${value}\n`)
    .join('')}`;
  const places = await Promise.all(
    Object.keys(JOBS).map(async (job) => makeWorkplace(await configOf(job, front.url, section, options), warehouse)),
  );
  try {
    return await measure(places, sandbox, options);
  } finally {
    for (const place of places) place.remove();
    await front.close();
    // Requests still under way arrive first.
    await pause(options.wayMs[1] + SAMPLE_MS);
    await sandbox.close();
    await stopPostgres();
  }
}

async function configOf(own: string, url: string, warehouse: string, options: RateOptions): Promise<string> {
  const jobs = (await loadJobs()).map(({ name }) => {
    if (name !== own) return `  ${name}: { enabled: false }`;
    const settings = JOBS[name as keyof typeof JOBS];
    return `  ${name}: { schedule: "*/10 * * * * *"${settings === '' ? '' : `, ${settings}`} }`;
  });
  const text = configFor(
    url,
    `${warehouse}privacy: { secret: the-same-secret-for-all-daemons }\nstatus: { port: 0 }\njobs:\n${jobs.join('\n')}\n`,
  );
  return text.replace(
    /requests_per_minute: \d+/,
    `requests_per_minute: ${options.perMinute}\n  concurrency: ${options.concurrency}`,
  );
}

async function measure(places: Workplace[], sandbox: Sandbox, options: RateOptions): Promise<RateReport> {
  const daemons: Running[] = [];
  // One after another: the first makes the schema.
  for (const place of places) daemons.push(await begin(place));
  const watcher = watch(sandbox);
  await pause(WARM_MS);
  const from = Date.now();
  await pause((options.minutes * MINUTE_MS) / 2);
  daemons[1]?.kill('SIGKILL');
  await daemons[1]?.ended;
  daemons[1] = await begin(places[1] as Workplace);
  await pause((options.minutes * MINUTE_MS) / 2);
  const to = Date.now();
  const status = await (places[0] as Workplace).run(['status', '--json']);
  const liveDaemons = JSON.parse(status.stdout).daemons.filter(
    ({ state }: { state: string }) => state === 'alive',
  ).length;
  sandbox.addFault({ call: '*', fault: '429', times: 1, seconds: options.pauseSeconds });
  const pausedAt = await until(() => (sandbox.ledger().requests_by_status['429'] ?? 0) > 0);
  await pause(options.pauseSeconds * 1_000 + WARM_MS);
  watcher.stop();
  const ledger = sandbox.ledger();
  for (const daemon of daemons) daemon.kill('SIGTERM');
  const exits = (await Promise.all(daemons.map(({ ended }) => ended))).map(({ code }) => code);
  return {
    mostInAMinute: ledger.per_minute_max,
    fewestInAMinute: fewest(watcher.samples, from, to),
    requests: totalOf(sandbox),
    byJob: ledger.requests,
    pause: pauseOf(watcher.samples, pausedAt),
    liveDaemons,
    exits,
  };
}

async function begin(place: Workplace): Promise<Running> {
  const daemon = place.start(['start']);
  await daemon.printed(/is running/);
  return daemon;
}

const totalOf = (sandbox: Sandbox): number => Object.values(sandbox.ledger().requests).reduce((sum, n) => sum + n, 0);

/** Samples the ledger's total at a fixed interval. */
function watch(sandbox: Sandbox): { samples: Sample[]; stop(): void } {
  const samples: Sample[] = [];
  const timer = setInterval(() => samples.push({ atMs: Date.now(), total: totalOf(sandbox) }), SAMPLE_MS);
  return { samples, stop: () => clearInterval(timer) };
}

async function until(isSo: () => boolean): Promise<number> {
  while (!isSo()) await pause(20);
  return Date.now();
}

/** A sample comes a moment late, so that its minute is never longer than a minute. */
function fewest(samples: readonly Sample[], from: number, to: number): number {
  const counts = samples.flatMap((start) => {
    if (start.atMs < from || start.atMs + MINUTE_MS > to) return [];
    const end = samples.findLast(({ atMs }) => atMs <= start.atMs + MINUTE_MS);
    return end === undefined ? [] : [end.total - start.total];
  });
  return Math.min(...counts);
}

function pauseOf(samples: readonly Sample[], pausedAt: number): RateReport['pause'] {
  const changes = samples.filter(({ total, atMs }, index) => atMs > pausedAt && total !== samples[index - 1]?.total);
  const gaps = changes.map(({ atMs }, index) => atMs - (changes[index - 1]?.atMs ?? pausedAt));
  const longest = Math.max(...gaps);
  const after = changes[gaps.indexOf(longest)]?.atMs ?? pausedAt;
  return {
    lastAfterSeconds: Math.round((after - longest - pausedAt) / 100) / 10,
    silentSeconds: Math.round(longest / 100) / 10,
  };
}
