// A large fleet on the sandbox's clock: the listings, the plan of a first run, a run of events as scheduled and a day of
// summaries; the calls of each, counted by the service, beside the estimate of `roadbook plan`.
// Addresses are measured where they arrive.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { loadJobs } from '../../../src/app/app.ts';
import { EVENT_CATEGORY_IDS } from '../../../src/sandbox/world/event-categories.ts';
import { peakMb } from '../measure/peak-memory.ts';
import { makeRig, type Rig } from './rig.ts';

export interface Stage {
  what: string;
  /** Those that arrived. */
  calls: number;
  /** As the job's own declaration estimates; null where it has none for this. */
  planned: number | null;
  slices: number;
  records: number;
  /** Calls that were retried. */
  retries: number;
  seconds: number;
  /** Resident memory afterwards, of the sandbox too. */
  rssMb: number;
}

/** A call that is retried may have been lost before the service could count it. */
export const isAsPlanned = ({ calls, planned, retries }: Stage): boolean =>
  planned === null || (calls >= planned && calls <= planned + retries);

export interface ManyVehicles {
  stages: Stage[];
  longestAddress: number;
  /** Vehicles with more or fewer events in the warehouse than the service has of one; it has as many of each. */
  outOfLine: number;
  peakMb: number;
}

const MINUTE = 60_000;
const DAY = 86_400_000;
const HOUR = 60 * MINUTE;
const PERIOD = 10 * MINUTE;
const LOOKBACK = 6 * HOUR;
/** A run as scheduled, not one that still has a month to read. */
const SINCE = { since: '24h', lookback: '6h' };

export async function simulateManyVehicles(vehicles: number, eventsADay: number): Promise<ManyVehicles> {
  const rig = await makeRig({
    startAt: '2026-03-10T12:00:00.000Z',
    sandbox: { vehicles, churn: false, bulkEvents: { perVehiclePerDay: eventsADay } },
    maxBodyMb: 512,
  });
  let longestAddress = 0;
  const onRequest = (message: unknown): void => {
    const { request } = message as { request: { url: string; headers: { host?: string } } };
    const address = `http://${request.headers.host}${request.url}`;
    longestAddress = Math.max(longestAddress, Buffer.byteLength(address));
  };
  subscribe('http.server.request.start', onRequest);
  // A call that failed waits on the clock to be made again, and nobody else moves it.
  const moving = setInterval(() => void (rig.clock.sleepers() > 0 && rig.clock.advance(1_000)), 100);
  try {
    const stages = await runStages(rig, vehicles);
    const outOfLine = await vehiclesOutOfLine(rig, vehicles);
    return { stages, longestAddress, outOfLine, peakMb: peakMb() };
  } finally {
    clearInterval(moving);
    unsubscribe('http.server.request.start', onRequest);
    await rig.close();
  }
}

async function runStages(rig: Rig, vehicles: number): Promise<Stage[]> {
  const stages: Stage[] = [];
  const stage = async (what: string, planned: number | null, work: () => Promise<Partial<Stage>>) => {
    const before = calls(rig);
    const started = performance.now();
    const done = await work();
    stages.push({
      what,
      calls: calls(rig) - before,
      planned,
      slices: 0,
      records: 0,
      retries: 0,
      ...done,
      seconds: (performance.now() - started) / 1_000,
      rssMb: process.memoryUsage.rss() / 1_048_576,
    });
  };
  const run = async (job: string, options: Record<string, unknown>): Promise<Partial<Stage>> => {
    const { status, slices, records, retries, error } = await rig.run(job, options);
    if (status !== 'ok') throw new Error(`${job}: ${status} ${error?.message}`);
    return { slices, records, retries };
  };
  const usual = async (name: string, options: Record<string, unknown>, periodMs: number, count = vehicles) => {
    const job = (await loadJobs()).find((each) => each.name === name);
    const parsed = (job?.options.parse(options) ?? {}) as Record<string, unknown>;
    return job?.cost?.(parsed, { vehicles: count, periodMs }).calls ?? 1;
  };
  await stage('pull-vehicles', 1, () => run('pull-vehicles', {}));
  await stage('pull-drivers', 2, () => run('pull-drivers', {}));
  await stage('pull-events, plan of a first run over 30 days', null, async () => {
    const preview = await rig.preview('pull-events');
    return { slices: preview.length };
  });
  await markCoveredUntilNow(rig);
  await rig.clock.advance(PERIOD);
  await stage('pull-events, as scheduled', await usual('pull-events', SINCE, PERIOD), () => run('pull-events', SINCE));
  const some = Math.min(vehicles, NAMES);
  await forgetAllBut(rig, some);
  const today = { since: '1h', lookback: '0s' };
  await stage(
    `pull-daily-summaries, one day of ${some.toLocaleString('en')} vehicles`,
    await usual('pull-daily-summaries', today, HOUR, some),
    () => run('pull-daily-summaries', today),
  );
  return stages;
}

/** The sandbox has not many more names for drivers; rows of drivers with one name cannot be distinguished. */
const NAMES = 5_000;

async function forgetAllBut({ engine }: Rig, count: number): Promise<void> {
  await engine.write(async ({ sql }) => {
    for (const table of ['vehicle', 'driver'])
      await sql.raw(`delete from ${table} where id not in (select id from ${table} order by id limit ?)`, [count]);
  });
}

const calls = ({ sandbox }: Rig): number =>
  Object.entries(sandbox.ledger().requests as Record<string, number>)
    .filter(([call]) => call !== 'login' && call !== 'renew')
    .reduce((sum, [, count]) => sum + count, 0);

/** As if runs had gone on until now, also today: of a day before that, a run as scheduled reads `lookback` again. */
async function markCoveredUntilNow({ engine, clock }: Rig): Promise<void> {
  const at = (ms: number): string => new Date(ms).toISOString();
  const now = clock.now();
  await engine.write(async ({ sql }) => {
    await sql.raw(
      `insert into sync_coverage (job, scope, begin_at, end_at, covered_at, run_id)
       select 'pull-events', 'vehicle ' || id || ' categories all', ?, ?, ?, 'before' from vehicle`,
      [at(now - DAY), at(now - MINUTE), at(now)],
    );
    const today = JSON.stringify(at(now).slice(0, 10));
    await sql('sync_state').insert({
      name: 'daily lookback of pull-events',
      value: today,
      updated_at: at(now),
    });
  });
}

async function vehiclesOutOfLine(rig: Rig, vehicles: number): Promise<number> {
  const [first] = await rig.rows('select min(id) as id from vehicle');
  const expected = await eventsInService(rig, Number(first?.id));
  const [right] = await rig.rows(
    `select count(*) as vehicles from (select vehicle_id from event group by vehicle_id having count(*) = ${expected}) as counted`,
  );
  return vehicles - Number(right?.vehicles ?? 0);
}

/** Events of a vehicle in the period of the run, read from the service directly, by plain requests. */
async function eventsInService({ sandbox, clock }: Rig, vehicle: number): Promise<number> {
  const json = async (path: string, init: RequestInit): Promise<unknown> =>
    (await fetch(sandbox.url + path, init)).json();
  const login = { method: 'POST', body: JSON.stringify(sandbox.credentials) };
  const { access_token } = (await json('/auth/login/', login)) as { access_token: string };
  const headers = { authorization: `Bearer ${access_token}` };
  const now = clock.now();
  const at = (ms: number): string => new Date(ms).toISOString();
  const periods = JSON.stringify([{ begin: at(now - PERIOD - MINUTE - LOOKBACK), end: at(now) }]);
  let expected = 0;
  for (const category of EVENT_CATEGORY_IDS) {
    const query = { periods, event_category: String(category), vehicles_id: `[${vehicle}]` };
    expected += ((await json(`/event/?${new URLSearchParams(query)}`, { headers })) as unknown[]).length;
  }
  if (expected === 0) throw new Error('the service has no events to compare with');
  return expected;
}
