// Both sides of a push, each as a process of its own with a service of its own: Roadbook's, from files in the drop folder
// to confirmed plans and results beside the files, and the script that posts the same plans and knows nothing of them.
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { ProcessCost } from '../support/process-cost.ts';
import { dropMany } from '../support/push-many.ts';
import { configFor, makeWorkplace, type Workplace } from '../support/workplace.ts';
import type { Credentials } from './task.ts';

export const CONCURRENCY = 16;
const COST = resolve(import.meta.dirname, '../support/process-cost.ts');
const SCRIPT = resolve(import.meta.dirname, 'push-script.ts');
const CONFIG = `erp: { route_plans: { source: files, folder: plans, settle: 0s } }
`;

/** Plans of a ratio that is measured in every test run. */
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
  const child = fork(resolve(import.meta.dirname, 'service.ts'), ['2', '1']);
  const [service] = (await once(child, 'message')) as [Service];
  const rate = `100000\n  concurrency: ${CONCURRENCY}`;
  const config = configFor(service.url, CONFIG).replace(/(?<=requests_per_minute: )\d+/, rate);
  const place = makeWorkplace(config);
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

/** How much of the CPU time of a plan that of the script is; without what the start of each process takes. */
export async function pushRatio(): Promise<number> {
  const costOf = async (side: Side): Promise<number> => {
    const [one, many] = [await measurePush(side, 1), await measurePush(side, SAMPLE)];
    return (many.cpuSeconds - one.cpuSeconds) / (SAMPLE - 1);
  };
  return (await costOf(script)) / (await costOf(product));
}
