// A warehouse that the real jobs have filled from a sandbox: a month of a small fleet, and a push.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadJobs, tableJobs } from '../../../src/app/app.ts';
import { dropSamplePlans } from '../../../src/app/connections.ts';
import type { Feed } from '../../../src/erp/source.ts';
import { openSource } from '../../../src/erp/sources.ts';
import { fillStopRules, fillTableJobs } from '../../../src/warehouse/control/config-tables.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { drive } from '../fleet/fleet-setup.ts';
import type { EngineCase } from '../warehouse/engines.ts';
import { makeRig } from './rig.ts';

export const FILLED_AT = '2026-03-31T15:00:00.000Z';
const ZONE = 'America/Sao_Paulo';
const JOBS = [
  'pull-vehicles',
  'pull-drivers',
  'pull-events',
  'pull-daily-summaries',
  'pull-checklists',
  'push-route-plans',
  'pull-route-plans',
];

export interface FilledWarehouse {
  engine: Engine;
  close(): Promise<void>;
}

export async function fillWarehouse({ make }: EngineCase): Promise<FilledWarehouse> {
  const place = await make();
  const engine = await place.open();
  await bringSchemaUpToDate(engine);
  await fillLocalTime(engine, ZONE, Date.parse(FILLED_AT));
  await fillStopRules(engine, { lateAfterMs: 900_000 });
  const jobs = await loadJobs();
  const options = (name: string) => jobs.find((job) => job.name === name)?.options.parse({}) ?? {};
  const settings = Object.fromEntries(jobs.map(({ name }) => [name, { options: options(name) }]));
  await fillTableJobs(engine, tableJobs(jobs, { jobs: settings } as never));
  const dir = mkdtempSync(join(tmpdir(), 'roadbook-filled-'));
  const folder = join(dir, 'plans');
  let feed: Feed | undefined;
  const rig = await makeRig({
    startAt: FILLED_AT,
    sandbox: { vehicles: 4, churn: false },
    dependencies: { engine, erp: async (kind) => (kind === 'route_plans' ? feed : undefined) },
  });
  const { clock, dependencies } = rig;
  await dropSamplePlans(folder, { fleet: dependencies.fleet, clock, timezone: ZONE });
  const source = openSource(
    { source: 'files', folder, settleMs: 0, keepFilesMs: Number.POSITIVE_INFINITY, mapping: {} },
    { kind: 'route_plans', zone: ZONE, reuseCodes: false, clock, log: dependencies.log, random: () => 0.5 },
  );
  feed = { source, options: {} };
  for (const job of JOBS) {
    const { status, error } = await drive(clock, rig.run(job));
    if (status !== 'ok') throw new Error(`${job}: ${status} ${error?.message}`);
  }
  return {
    engine,
    async close() {
      await source.close();
      await rig.close();
      await engine.close();
      await place.remove();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
