// Both sides of a push, each as a process of its own with a service of its own: Roadbook's, from files in the drop folder
// to confirmed plans and results beside the files, and the script that posts the same plans and knows nothing of them.
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { ProcessCost } from '../../support/measure/process-cost.ts';
import type { SqlCost } from '../../support/measure/sql-cost.ts';
import { configFor, makeWorkplace, openDatabase, type Workplace } from '../../support/process/workplace.ts';
import { dropMany } from '../../support/push/push-many.ts';
import type { Credentials } from '../task.ts';

export const CONCURRENCY = 16;
const COST = resolve(import.meta.dirname, '../../support/measure/process-cost.ts');
const SQL_COST = resolve(import.meta.dirname, '../../support/measure/sql-cost.ts');
const SCRIPT = resolve(import.meta.dirname, 'push-script.ts');
const CONFIG = `erp: { route_plans: { source: files, folder: plans, settle: 0s } }
`;

/** Plans of a ratio that is measured in every `npm run bench -- --check`. */
const SAMPLE = 300;

export interface Pushed extends ProcessCost {
  plans: number;
  seconds: number;
  requests: number;
}

interface Service {
  url: string;
  credentials: Credentials;
}

type Side = (place: Workplace, service: Service, env: Record<string, string>) => Promise<{ stdout: string }>;

const product: Side = (place, _service, env) => place.run(['run', 'push-route-plans', '--json'], env);

const script: Side = (place, { url, credentials }, env) =>
  promisify(execFile)(
    process.execPath,
    [SCRIPT, url, join(place.dir, 'plans'), JSON.stringify(credentials), String(CONCURRENCY)],
    { env: { ...process.env, ...env } },
  );

export const SIDES = { product, script };

export async function measurePush(side: Side, plans: number): Promise<Pushed> {
  const child = fork(resolve(import.meta.dirname, '../service.ts'), ['2', '1']);
  const [service] = (await once(child, 'message')) as [Service];
  const rate = `100000\n  concurrency: ${CONCURRENCY}`;
  const config = configFor(service.url, CONFIG).replace(/(?<=requests_per_minute: )\d+/, rate);
  const place = makeWorkplace(config);
  // A push finds its warehouse made.
  await place.run(['run', 'push-agents']);
  dropMany(place.dir, plans);
  const cost = join(place.dir, 'cost');
  const started = performance.now();
  const { stdout } = await side(place, service, { NODE_OPTIONS: `--import=${COST}`, COST_FILE: cost });
  const seconds = (performance.now() - started) / 1_000;
  const { confirmed, requests } = JSON.parse(stdout) as { confirmed: number; requests: number };
  const spent = JSON.parse(readFileSync(cost, 'utf8')) as ProcessCost;
  place.remove();
  child.disconnect();
  if (confirmed !== plans) throw new Error(`${confirmed} of ${plans} plans were confirmed`);
  return { plans, seconds, requests, ...spent };
}

export interface PushSqlCost {
  /** Of one plan, from its file to its result. */
  statements: number;
  commits: number;
  /** Of a run with nothing to do, on the outbox alone. */
  idleMs: number;
  confirmed: number;
}

const CONFIRMED = 200_000;

/** The cost of pushes in SQL, without the start of the process; and of a run with nothing to do, among many confirmed plans. */
export async function pushSqlCost(plans: number): Promise<PushSqlCost> {
  const child = fork(resolve(import.meta.dirname, '../service.ts'), ['2', '1']);
  const [service] = (await once(child, 'message')) as [Service];
  const costOf = async (place: Workplace): Promise<SqlCost> => {
    const file = join(place.dir, 'sql-cost');
    const env = { NODE_OPTIONS: `--import=${SQL_COST}`, SQL_COST_FILE: file };
    const { code, stderr } = await place.run(['run', 'push-route-plans', '--json'], env);
    if (code !== 0) throw new Error(`a push ended with ${code}: ${stderr}`);
    return JSON.parse(readFileSync(file, 'utf8')) as SqlCost;
  };
  const place = makeWorkplace(configFor(service.url, CONFIG).replace(/(?<=requests_per_minute: )\d+/, '100000'));
  try {
    // The first run makes the schema.
    await costOf(place);
    const empty = await costOf(place);
    dropMany(place.dir, plans);
    const busy = await costOf(place);
    const database = openDatabase(join(place.dir, 'data', 'warehouse.db'));
    await database.raw(CONFIRMED_ENTRIES, [CONFIRMED]);
    await database.destroy();
    const idle = await costOf(place);
    const each = (name: 'statements' | 'commits'): number => (busy[name] - empty[name]) / plans;
    return {
      statements: each('statements'),
      commits: each('commits'),
      idleMs: idle.outboxMs,
      confirmed: CONFIRMED,
    };
  } finally {
    place.remove();
    child.disconnect();
  }
}

const CONFIRMED_ENTRIES = `insert into push_outbox (kind, external_code, state, content_hash, sent_hash, remote_id, remote_key,
    period_start, period_end, attempts, unclear_sends, created_at, updated_at, sent_at, confirmed_at, seen_at, told_at, revision)
  with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?),
    days(n, day) as (select n, strftime('%Y-%m-%d', 'now', '-' || (1 + n % 300) || ' days') from numbers)
  select 'route_plans', 'X' || n, 'confirmed', 'h', 'h', 1000000 + n, 'X' || n, day || 'T08:00:00.000Z',
    day || 'T18:00:00.000Z', 1, 0, at, at, at, at, at, at, 3 from (select n, day, day || 'T06:00:00.000Z' as at from days)`;

/** The CPU time of a plan in the script as a share of ours, without the start of each process. */
export async function pushRatio(): Promise<number> {
  const costOf = async (side: Side): Promise<number> => {
    const [one, many] = [await measurePush(side, 1), await measurePush(side, SAMPLE)];
    return (many.cpuSeconds - one.cpuSeconds) / (SAMPLE - 1);
  };
  return (await costOf(script)) / (await costOf(product));
}
