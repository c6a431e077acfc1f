// Every job, every promise, every engine: the same proofs run over both, and what they found is printed as one table.
// Each engine has a service of its own that begins alike, so that in the end both must hold the same rows.
import { afterAll, describe, expect, it } from 'vitest';
import { loadJobs } from '../../src/app.ts';
import { Fatal } from '../../src/core/errors.ts';
import type { Table } from '../../src/warehouse/table.ts';
import { engineCases } from '../support/engines.ts';
import { stopPostgres } from '../support/postgres.ts';
import { promiseTable } from '../support/promise-table.ts';
import { pushCases } from '../support/push-cases.ts';
import { makePushPlace } from '../support/push-place.ts';
import { makeRig, type Rig } from '../support/rig.ts';

const START = '2026-03-10T18:00:00.000Z';
const jobs = await loadJobs();

interface PullCase {
  job: string;
  options: Record<string, unknown>;
  /** The call whose answer gets one record more, and that record: nothing holds it. */
  call: string;
  misfit: Record<string, unknown>;
}

const misfit = { note: 'has no identity' };
const pulls: readonly PullCase[] = [
  { job: 'pull-vehicles', options: {}, call: 'vehicles', misfit },
  { job: 'pull-drivers', options: {}, call: 'drivers', misfit },
  { job: 'pull-points-of-interest', options: {}, call: 'points-of-interest', misfit },
  { job: 'pull-events', options: { since: '2d', lookback: '2d' }, call: 'events', misfit },
  {
    job: 'pull-route-plans',
    options: { since: '2d', lookback: '2d', ahead: '1d' },
    call: 'route-plan',
    misfit,
  },
  { job: 'pull-daily-summaries', options: { since: '2d', lookback: '2d' }, call: 'daily-summary', misfit },
  { job: 'pull-itineraries', options: { since: '2d', lookback: '2d' }, call: 'itineraries', misfit },
  { job: 'pull-checklists', options: { since: '2d', lookback: '2d' }, call: 'checklists', misfit },
];

const kept = promiseTable();
/** What each engine held in the end, by table. */
const contents = new Map<string, Record<string, unknown>[]>();

afterAll(async () => {
  await stopPostgres();
  process.stdout.write(`${kept.text()}\n`);
  expect(kept.broken()).toEqual([]);
});

const tablesOf = (job: string): readonly Table[] => jobs.find(({ name }) => name === job)?.tables ?? [];

const contentOf = (rig: Rig, { name, key }: Table) =>
  rig.engine.read((sql) => sql(name).orderBy([...key])) as Promise<Record<string, unknown>[]>;

const allContents = (rig: Rig, job: string) =>
  Promise.all(tablesOf(job).map((table) => contentOf(rig, table)));

/** Cuts every transaction that has loaded something, just before it would have been committed. */
function cutLoads(rig: Rig): () => void {
  const { engine } = rig.parts;
  rig.parts.engine = {
    ...engine,
    write: (work) =>
      engine.write(async (tx) => {
        let isLoading = false;
        const result = await work({
          ...tx,
          load(...given) {
            isLoading = true;
            return tx.load(...given);
          },
        });
        if (isLoading) throw new Fatal('cut', { code: 'cut' });
        return result;
      }),
  };
  return () => {
    rig.parts.engine = engine;
  };
}

const levers = (rig: Rig, method: string, body?: object) =>
  fetch(`${rig.sandbox.url}/_sandbox/records`, { method, ...(body && { body: JSON.stringify(body) }) });

describe.each(engineCases)('on $name', ({ name: engine }) => {
  it('every pull keeps its promises', { timeout: 240_000 }, async () => {
    const rig = await makeRig({ startAt: START, sandbox: { vehicles: 4 }, engine });
    try {
      for (const { job, options, call, misfit: record } of pulls) {
        await kept.prove(job, engine, 'rows and coverage commit together', async () => {
          const mend = cutLoads(rig);
          expect(await rig.run(job, options)).toMatchObject({ status: 'failed', error: { code: 'cut' } });
          mend();
          expect((await allContents(rig, job)).flat()).toEqual([]);
          expect(await rig.engine.read((sql) => sql('sync_coverage').where({ job }))).toEqual([]);
        });
        await kept.prove(job, engine, 'nothing is dropped', async () => {
          await levers(rig, 'POST', { call, records: [record] });
          const { records, inserted, updated, unchanged, quarantined } = await rig.run(job, options);
          await levers(rig, 'DELETE');
          expect(quarantined).toBeGreaterThan(0);
          expect(inserted).toBeGreaterThan(0);
          expect(inserted + updated + unchanged + quarantined).toBe(records);
          const rows = (await allContents(rig, job)).flat();
          const control = tablesOf(job).filter(({ kind }) => kind === 'control');
          const own = (await Promise.all(control.map((table) => contentOf(rig, table)))).flat();
          expect(rows.length - own.length).toBe(inserted);
          const [misfits] = await rig.rows(`select count(*) as n from sync_quarantine where job = '${job}'`);
          expect(misfits?.n).toBeGreaterThan(0);
        });
        await kept.prove(job, engine, 'loading twice changes nothing', async () => {
          const before = await allContents(rig, job);
          expect(await rig.run(job, options)).toMatchObject({ status: 'ok', inserted: 0, updated: 0 });
          expect(await allContents(rig, job)).toEqual(before);
        });
        await kept.prove(job, engine, 'the same rows on every engine', async () => {
          for (const table of tablesOf(job)) {
            const rows = (await contentOf(rig, table)).map((row) => comparable(table, row));
            const other = contents.get(table.name);
            if (other !== undefined) expect(rows).toEqual(other);
            contents.set(table.name, rows);
          }
        });
      }
    } finally {
      await rig.close();
    }
  });

  it.each(pushCases)('$job sends each thing once, whatever the answer', async (push) => {
    await kept.prove(push.job, engine, 'nothing is sent twice or lost', async () => {
      const place = await makePushPlace({ engine });
      place.sandbox.addFault({ call: push.create, fault: 'reset-after-commit', times: 1 });
      place.drop(push.kind, 'a.json', [push.thing(0), push.thing(1)]);
      await place.run(push.job);
      for (let runs = 0; runs < 3; runs++) {
        await place.clock.advance(3_600_000);
        await place.run(push.job);
      }
      expect((await place.outbox()).map(({ state }) => state)).toEqual(['confirmed', 'confirmed']);
      const counted = place.sandbox.ledger()[push.ledger] as Record<string, number>;
      expect([counted[push.name(0)], counted[push.name(1)]]).toEqual([1, 1]);
    });
  });
});

/** Without the names of runs, which differ; JSON as what it says. */
function comparable(table: Table, row: Record<string, unknown>): Record<string, unknown> {
  const { _run_id, run_id, ...rest } = row;
  for (const { name, type } of table.columns) {
    if (type === 'json' && typeof rest[name] === 'string') rest[name] = JSON.parse(rest[name]);
  }
  return rest;
}
