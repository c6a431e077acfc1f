// Plans a second of the real process, with the limiter off: from files in the drop folder to confirmed entries and
// results beside the files. What is about to be sent is searched for first, many plans with one call.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { dropMany } from '../support/push-many.ts';
import { configFor, makeWorkplace } from '../support/workplace.ts';
import { PRODUCT_FLAGS, type Section } from './task.ts';

const SUPPORT = resolve(import.meta.dirname, '../support');
const CONFIG = `erp: { route_plans: { source: files, folder: plans, settle: 0s } }
jobs: { push-route-plans: { settle: 0s } }
`;

export async function pushBench(plans: number): Promise<Section> {
  const service = fork(resolve(import.meta.dirname, 'service.ts'), ['2', '1']);
  const [{ url }] = (await once(service, 'message')) as [{ url: string }];
  const place = makeWorkplace(
    configFor(url, CONFIG).replace(/(?<=requests_per_minute: )\d+/, '100000\n  concurrency: 16'),
    undefined,
    PRODUCT_FLAGS,
  );
  dropMany(place.dir, plans);
  const peak = join(place.dir, 'peak');
  const started = performance.now();
  const { stdout } = await place.run(['run', 'push-route-plans', '--json'], {
    NODE_OPTIONS: `--import=${join(SUPPORT, 'peak-memory.ts')}`,
    PEAK_FILE: peak,
  });
  const seconds = (performance.now() - started) / 1_000;
  const { confirmed, requests } = JSON.parse(stdout) as { confirmed: number; requests: number };
  const peakMb = readFileSync(peak, 'utf8');
  place.remove();
  service.disconnect();
  if (confirmed !== plans) throw new Error(`${confirmed} of ${plans} plans were confirmed`);
  return {
    title: 'Push',
    body: `Files in the drop folder to confirmed plans, the limiter off, 16 requests at one time, start of the process included.

| plans | seconds | plans/s | requests | peak RSS, MB |
|---|---|---|---|---|
| ${plans.toLocaleString('en')} | ${seconds.toFixed(1)} | ${(plans / seconds).toFixed(0)} | ${requests.toLocaleString('en')} | ${peakMb} |`,
  };
}
