// Many plans in a drop folder, pushed by the real process in a small heap, also with that process killed on the way, and
// their counts in the ledger.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Ledger, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace, QUICK, type Workplace } from '../process/workplace.ts';
import { twiceAndLost } from './dropped-items.ts';

const PER_FILE = 500;
const STOPS = 10;
const MOST_RUNS = 10;
/** Between runs that leave an item open: one that was not found has to stay absent for a while. */
const REST_MS = 1_000;
export const HEAP_MB = 100;
export const RUN = ['run', 'push-route-plans', '--json'];

/** Where a process dies: the n-th step of its own, or the n-th of that name. */
export interface Kill {
  at: number;
  step?: string;
  where: string;
}

export interface KilledReport {
  /** Plans at the service at each death. */
  arrived: number[];
  twice: number;
  lost: number;
  /** Entries that were not confirmed and acknowledged in the end. */
  open: number;
}

export type Work<Result> = (place: Workplace, ledger: () => Ledger) => Promise<Result>;

/** A hard limit: memory that grows with the number of plans ends the process. `preload` is a file of test/support. */
export const smallHeap = (preload: string): string =>
  `--import=${join(import.meta.dirname, '..', preload)} --max-old-space-size=${HEAP_MB}`;

export interface ManyOptions {
  /** Settings of the push, in place of its defaults. */
  job?: string;
  /** `service.timeout`. */
  timeout?: string;
  perMinute?: number;
}

/** With so many plans dropped. */
export async function withMany<Result>(
  plans: number,
  { job = '', timeout, perMinute = 60_000 }: ManyOptions,
  work: Work<Result>,
): Promise<Result> {
  const sandbox = await startSandbox({ churn: false, vehicles: 2 });
  const config = `erp: { route_plans: { source: files, folder: plans, settle: 0s } }
jobs: { push-route-plans: { ${job} } }
`;
  const settings = configFor(sandbox.url, config, timeout);
  const place = makeWorkplace(settings.replace(/(?<=requests_per_minute: )\d+/, String(perMinute)));
  try {
    dropMany(place.dir, plans);
    return await work(place, () => sandbox.ledger());
  } finally {
    place.remove();
    await sandbox.close();
  }
}

const KILLED: ManyOptions = {
  job: `settle: ${QUICK.settle}`,
  timeout: QUICK.timeout,
};

/** One process after another dies; the last ones are left alone until nothing is open. */
export const pushManyKilled = (
  plans: number,
  kills: readonly Kill[],
  report: (words: string) => void = () => undefined,
): Promise<KilledReport> =>
  withMany(plans, KILLED, async (place, ledger) => {
    const arrived: number[] = [];
    for (const { at, step, where } of kills) {
      const env = {
        NODE_OPTIONS: smallHeap('kills/kill-at.ts'),
        KILL_AT: String(at),
        ...(step && { KILL_STEP: step }),
      };
      const { signal } = await place.run(RUN, env);
      const there = Object.keys(ledger().plans).length;
      report(`${signal ?? 'not killed'} ${where}: ${there} plans are there\n`);
      if (signal === 'SIGKILL') arrived.push(there);
    }
    let open = plans;
    for (let runs = 0; runs < MOST_RUNS && open > 0; runs++) {
      await place.run(RUN);
      const acknowledged = "select count(*) as n from push_outbox where state = 'confirmed' and told_at is not null";
      const [row] = await place.query<{ n: number }>(acknowledged);
      open = plans - Number(row?.n);
      if (open > 0) await pause(REST_MS);
    }
    return { arrived, ...verdictOf(ledger(), plans), open };
  });

export function dropMany(dir: string, plans: number): void {
  mkdirSync(join(dir, 'plans'), { recursive: true });
  for (let from = 0; from < plans; from += PER_FILE) {
    const some = Array.from({ length: Math.min(PER_FILE, plans - from) }, (_, i) => planNumbered(from + i));
    writeFileSync(join(dir, 'plans', `${from}.json`), JSON.stringify(some));
  }
}

export const verdictOf = (ledger: Ledger, plans: number) => twiceAndLost(ledger.plans, codeOf, plans);

const codeOf = (n: number): string => `M${String(n).padStart(5, '0')}`;

function planNumbered(n: number): object {
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const stops = Array.from({ length: STOPS }, (_, i) => ({
    name: `Stop ${i}`,
    address: `Rua ${n}, ${i}`,
    external_code: `M${n}-${i}`,
  }));
  return {
    external_code: codeOf(n),
    date_time_start: `${day}T11:00:00Z`,
    date_time_end: `${day}T20:00:00Z`,
    route_points: stops,
    options: { optimize: false },
  };
}
