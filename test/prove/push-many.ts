// Many plans in a drop folder, pushed by the real process in a heap of 100 MB: how long it takes, how much memory
// it took at most, and what the service accepted. Run with: node test/prove/push-many.ts [plans…]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace } from '../support/workplace.ts';

const PRELOAD = join(import.meta.dirname, '../support/peak-memory.ts');
const PER_FILE = 500;
const HEAP_MB = 100;
const JOB = 'jobs: { push-route-plans: { settle: 0s } }\n';

async function push(many: number): Promise<void> {
  const sandbox = await startSandbox({ churn: false, vehicles: 2 });
  const feed = 'erp: { route_plans: { source: files, folder: plans, settle: 0s } }\n';
  const place = makeWorkplace(configFor(sandbox.url, feed + JOB));
  mkdirSync(join(place.dir, 'plans'));
  for (let from = 0; from < many; from += PER_FILE) {
    const plans = Array.from({ length: Math.min(PER_FILE, many - from) }, (_, i) => planNumbered(from + i));
    writeFileSync(join(place.dir, 'plans', `${from}.json`), JSON.stringify(plans));
  }
  const startedAt = Date.now();
  const peak = join(place.dir, 'peak');
  // A hard limit: whatever grew with the number of plans would end the process.
  const limit = `--max-old-space-size=${HEAP_MB}`;
  const env = { NODE_OPTIONS: `--import=${PRELOAD} ${limit}`, PEAK_FILE: peak };
  const { stdout } = await place.run(['run', 'push-route-plans', '--json'], env);
  const { status, confirmed } = JSON.parse(stdout);
  const seconds = (Date.now() - startedAt) / 1_000;
  const counts = Object.values(sandbox.ledger().plans);
  const twice = counts.filter((count) => count > 1).length;
  process.stdout.write(
    `${many} plans: ${status}, ${confirmed} confirmed, ${twice} twice, ${many - counts.length} lost, ${seconds.toFixed(1)} s, peak ${readFileSync(peak, 'utf8')} MB\n`,
  );
  place.remove();
  await sandbox.close();
}

function planNumbered(n: number): object {
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const stops = Array.from({ length: 10 }, (_, i) => ({
    name: `Stop ${i}`,
    address: `Rua ${n}, ${i}`,
    external_code: `M${n}-${i}`,
  }));
  return {
    external_code: `M${String(n).padStart(5, '0')}`,
    date_time_start: `${day}T11:00:00Z`,
    date_time_end: `${day}T20:00:00Z`,
    route_points: stops,
    options: { optimize: false },
  };
}

const given = process.argv.slice(2).map(Number);
for (const many of given.length > 0 ? given : [500, 10_000]) await push(many);
