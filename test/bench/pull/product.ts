// The product in the measuring process: the real jobs, client and engine, with the limiter wide open.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadJobs } from '../../../src/app/app.ts';
import { createLog } from '../../../src/core/log.ts';
import { createLimiter } from '../../../src/core/rate/limiter.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createFleet } from '../../../src/fleet/client.ts';
import { localDispatcher } from '../../../src/sync/dispatch/local.ts';
import { runChain } from '../../../src/sync/job-chain.ts';
import { engines } from '../../../src/warehouse/engines.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import { createPrivacy, personalColumns } from '../../../src/warehouse/privacy/privacy.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { createSessionMemory } from '../../support/fleet/session-memory.ts';
import type { Task } from '../task.ts';

export const CONCURRENCY = 4;

/** As the product comes. */
const usualPolicies = Object.fromEntries([...personalColumns].map(([name, { column }]) => [name, column.policy]));

export interface Product {
  pullEvents(): Promise<{ records: number; updated: number }>;
  /** Spoils about one stored row in a hundred, so that the next pull finds it changed. */
  spoil(): Promise<void>;
  close(): Promise<void>;
}

/** Opened, with the vehicles in it: the first run of events needs them. */
export async function prepareProduct(task: Task): Promise<Product> {
  mkdirSync(task.dir, { recursive: true });
  const kind = engines[task.engine];
  if (kind === undefined) throw new Error(`no engine ${task.engine}`);
  const { engine: _name, ...settings } = task.settings;
  const engine = await kind.open(settings);
  await bringSchemaUpToDate(engine);
  // As a daemon does: from then on every row has its local day, and the days of events are counted.
  await fillLocalTime(engine, 'America/Sao_Paulo', Date.now());
  const redactor = createRedactor();
  const log = createLog({ level: 'silent', redactor });
  const { parent_username: parentUsername, ...credentials } = task.credentials;
  const fleet = createFleet(
    {
      baseUrl: task.url,
      ...credentials,
      parentUsername,
      renewal: 'auto',
      collections: 'json',
      timeoutMs: 60_000,
      maxBodyMb: 256,
    },
    {
      clock: systemClock,
      log,
      redactor,
      memory: createSessionMemory(),
      limiter: createLimiter({ concurrency: CONCURRENCY, perMinute: 10_000_000, clock: systemClock }),
    },
  );
  const dependencies = {
    fleet,
    engine,
    clock: systemClock,
    log,
    redactor,
    privacy: createPrivacy(usualPolicies, 'bench'),
    concurrency: CONCURRENCY,
    dispatcher: localDispatcher,
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
    return runChain({ ...found, cause: 'manual', period: asked }, { find, names: [] }, dependencies as never);
  };
  await run('pull-vehicles');
  return {
    async pullEvents() {
      const { summary } = await run('pull-events', { beginAt: task.beginAt, endAt: task.endAt });
      if (summary.status !== 'ok') throw new Error(JSON.stringify(summary));
      return summary;
    },
    spoil: () =>
      engine.write(async ({ sql }) => {
        // Identifiers of the sandbox are even and evenly spread, so this is one in 97.
        await sql.raw('update event set distance = -1 where id % 97 = 0');
      }),
    async close() {
      fleet.close();
      await engine.close();
    },
  };
}
