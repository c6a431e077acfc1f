// One measured way of getting the same events, in a process of its own: the peak memory is then its own too.
//   parse   got and JSON.parse alone, nothing kept: what the network and the parser cost
//   pull    the product, end to end, into an empty SQLite warehouse
//   again   the product, the same events a second time: nothing changes
//   twice   the product, twice as many events into another warehouse: whether memory grows with them
//   script  what a user would write instead: got, JSON.parse, knex insert on conflict merge, 500 rows a statement
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import got from 'got';
import knex from 'knex';
import { loadJobs } from '../../src/app.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createLimiter } from '../../src/core/limiter.ts';
import { createLog } from '../../src/core/log.ts';
import { createRedactor } from '../../src/core/redaction.ts';
import { createFleet } from '../../src/fleet/client.ts';
import { runChain } from '../../src/sync/job-chain.ts';
import { sqlite } from '../../src/warehouse/engines/sqlite.ts';
import { createPrivacy, personalColumns } from '../../src/warehouse/privacy.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema.ts';

export interface Measured {
  rows: number;
  seconds: number;
  /** Of all threads; where the machine is shared, it tells more than the seconds on the clock. */
  cpuSeconds: number;
  peakMb: number;
  /** How long the event loop kept a timer waiting, the 99th of a hundred, ms: what the status page would feel. */
  loopDelayMs: number;
}

interface Task {
  way: 'parse' | 'pull' | 'again' | 'twice' | 'script';
  url: string;
  credentials: { username: string; parent_username: string; password: string; realm: string };
  dir: string;
  beginAt: string;
  endAt: string;
}

const task = JSON.parse(process.argv[2] ?? '{}') as Task;
const CONCURRENCY = 4;

const ways: Record<Task['way'], () => Promise<number>> = {
  parse: () => readAll(async () => undefined),
  pull: pullEvents,
  again: pullEvents,
  twice: pullEvents,
  script: script,
};

/** As the product comes. */
const usualPolicies = Object.fromEntries(
  [...personalColumns].map(([name, { column }]) => [name, column.policy]),
);

// The first run of the product also fetches the vehicles; that is prepared before the clock starts.
const prepared = ways[task.way] === pullEvents ? await prepareProduct() : undefined;
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
const started = performance.now();
const usedBefore = process.cpuUsage();
const rows = await ways[task.way]();
const seconds = (performance.now() - started) / 1_000;
delay.disable();
const { user, system } = process.cpuUsage(usedBefore);
const result: Measured = {
  rows,
  seconds,
  cpuSeconds: (user + system) / 1e6,
  loopDelayMs: delay.percentile(99) / 1e6,
  peakMb: process.resourceUsage().maxRSS / 1_024,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
await prepared?.close();

async function prepareProduct() {
  mkdirSync(task.dir, { recursive: true });
  const engine = await sqlite.open({ file: join(task.dir, 'warehouse.db') });
  await bringSchemaUpToDate(engine);
  const redactor = createRedactor();
  const log = createLog({ level: 'silent', redactor });
  const { username, parent_username: parentUsername, password, realm } = task.credentials;
  const fleet = createFleet(
    {
      baseUrl: task.url,
      username,
      parentUsername,
      password,
      realm,
      renewal: 'auto',
      collections: 'json',
      timeoutMs: 60_000,
      maxBodyMb: 256,
    },
    {
      clock: systemClock,
      log,
      redactor,
      limiter: createLimiter({ concurrency: CONCURRENCY, perMinute: 10_000_000, clock: systemClock }),
    },
  );
  const parts = {
    fleet,
    engine,
    clock: systemClock,
    log,
    redactor,
    privacy: createPrivacy(usualPolicies, 'bench'),
    concurrency: CONCURRENCY,
    timezone: 'America/Sao_Paulo',
    images: join(task.dir, 'images'),
  };
  const jobs = await loadJobs();
  const find = (name: string) => {
    const job = jobs.find((each) => each.name === name);
    return job === undefined ? undefined : { job, options: job.options.parse({}) as Record<string, unknown> };
  };
  const run = (name: string, period?: { beginAt: string; endAt: string }) => {
    const found = find(name);
    if (found === undefined) throw new Error(`no job ${name}`);
    const asked = period === undefined ? undefined : { ...period, resumable: false };
    return runChain({ ...found, cause: 'manual', period: asked }, { find }, parts as never);
  };
  await run('pull-vehicles');
  return {
    run,
    async close() {
      fleet.close();
      await engine.close();
    },
  };
}

async function pullEvents(): Promise<number> {
  const { beginAt, endAt } = task;
  const finished = await prepared?.run('pull-events', { beginAt, endAt });
  if (finished?.summary.status !== 'ok') throw new Error(JSON.stringify(finished?.summary));
  return finished.summary.records;
}

/** The requests that the product makes, sent by got alone; `keep` gets each parsed body. */
async function readAll(keep: (events: Record<string, never>[]) => Promise<void>): Promise<number> {
  const login = await got
    .post(`${task.url}/auth/login/`, { json: task.credentials })
    .json<{ access_token: string }>();
  const headers = { authorization: `Bearer ${login.access_token}` };
  const { data } = await got(`${task.url}/vehicle/?includes=fleet&visible=2`, { headers }).json<{
    data: { id: number }[];
  }>();
  const requests = eventRequests(data.map(({ id }) => id));
  let count = 0;
  const lane = async () => {
    for (let next = requests.shift(); next !== undefined; next = requests.shift()) {
      const { body } = await got(`${task.url}/event/?${next}`, { headers, retry: { limit: 0 } });
      const events = JSON.parse(body);
      count += events.length;
      await keep(events);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  return count;
}

/** A hundred vehicles and one day a call, every category. */
function eventRequests(vehicles: number[]): string[] {
  const categories = [...Array(14).keys()].map((n) => n + 1).concat([22, 23, 24, 25, 26, 27, 28, 29, 30, 31]);
  const day = 86_400_000;
  const requests: string[] = [];
  for (let begin = Date.parse(task.beginAt); begin < Date.parse(task.endAt); begin += day) {
    for (let start = 0; start < vehicles.length; start += 100) {
      const periods = [
        { begin: new Date(begin).toISOString(), end: new Date(begin + day - 1).toISOString() },
      ];
      for (const category of categories) {
        requests.push(
          new URLSearchParams({
            event_category: String(category),
            vehicles_id: JSON.stringify(vehicles.slice(start, start + 100)),
            periods: JSON.stringify(periods),
            includes: 'vehicle,driver,location_start,location_end',
          }).toString(),
        );
      }
    }
  }
  return requests;
}

async function script(): Promise<number> {
  mkdirSync(task.dir, { recursive: true });
  const database = knex({
    client: 'sqlite3',
    connection: { filename: join(task.dir, 'script.db') },
    useNullAsDefault: true,
  });
  await database.raw('pragma journal_mode = wal');
  await database.raw('pragma synchronous = normal');
  await database.raw(`create table event (event_category integer, id integer, begin_date text, end_date text,
    distance integer, vehicle_id integer, vehicle_plate text, driver_id integer, driver_name text, raw text,
    primary key (event_category, id))`);
  type Wire = Record<string, Record<string, unknown> | undefined>;
  const count = await readAll(async (events) => {
    const rows = (events as Wire[]).map((each) => ({
      event_category: each.event_category,
      id: each.id,
      begin_date: each.begin_date,
      end_date: each.end_date,
      distance: each.distance,
      vehicle_id: each.vehicle?.id,
      vehicle_plate: each.vehicle?.plate,
      driver_id: each.driver?.id,
      driver_name: each.driver?.name,
      raw: JSON.stringify(each),
    }));
    for (let start = 0; start < rows.length; start += 500) {
      await database('event')
        .insert(rows.slice(start, start + 500) as never)
        .onConflict(['event_category', 'id'])
        .merge();
    }
  });
  await database.destroy();
  return count;
}
