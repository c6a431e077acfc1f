// Every job, every promise, every engine: the same proofs run on both engines, and the results are printed as one table.
// Each engine has its own service with the same start, so that in the end both must hold the same rows.
import { afterAll, describe, expect, it, test } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { Fatal } from '../../../src/core/errors.ts';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import type { Table } from '../../../src/warehouse/schema/table.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { drive } from '../../support/fleet/fleet-setup.ts';
import { makeRig, type Rig } from '../../support/pull/rig.ts';
import { pushCases } from '../../support/push/push-cases.ts';
import { makePushPlace } from '../../support/push/push-place.ts';
import { tick } from '../../support/simulation/ticking.ts';
import { engineCases, makePlace } from '../../support/warehouse/engines.ts';
import { promiseTable } from './promise-table.ts';

const START = '2026-03-10T18:00:00.000Z';
const HOUR_MS = 3_600_000;
const jobs = await loadJobs();

interface PullCase {
  job: string;
  options: Record<string, unknown>;
  /** The call whose answer gets one extra record, and that record: no other record references it. */
  call: Fault['call'];
  invalid: Record<string, unknown>;
  /** Records that a short answer omits are marked; otherwise each is asked for, and found. */
  marks?: true;
  /** A slice that is too large is split into smaller ones. */
  cuts?: true;
}

const invalid = { note: 'has no identity' };
const pulls: readonly PullCase[] = [
  { job: 'pull-vehicles', options: {}, call: 'vehicles', invalid, marks: true },
  { job: 'pull-drivers', options: {}, call: 'drivers', invalid, marks: true },
  { job: 'pull-points-of-interest', options: {}, call: 'points-of-interest', invalid, marks: true },
  {
    job: 'pull-events',
    options: { since: '2d', lookback: '2d' },
    call: 'events',
    invalid,
    marks: true,
    cuts: true,
  },
  {
    job: 'pull-route-plans',
    options: { since: '2d', lookback: '2d', ahead: '1d' },
    call: 'route-plan',
    invalid,
  },
  {
    job: 'pull-daily-summaries',
    options: { since: '2d', lookback: '2d' },
    call: 'daily-summary',
    invalid,
    marks: true,
  },
  { job: 'pull-itineraries', options: { since: '2d', lookback: '2d' }, call: 'itineraries', invalid },
  { job: 'pull-checklists', options: { since: '2d', lookback: '2d' }, call: 'checklists', invalid },
];

const CONTROL = ['sync_run', 'sync_coverage', 'sync_quarantine', 'push_outbox', 'push_attempt', 'sync_state'];
/** A signed token as the service issues it. */
const TOKEN = /eyJ[\w-]{10,}\.eyJ/;
const kept = promiseTable();
/** The final rows of each engine, by table. */
const contents = new Map<string, Record<string, unknown>[]>();

afterAll(async () => {
  await stopPostgres();
  process.stdout.write(`${kept.text()}\n`);
  expect(kept.broken()).toEqual([]);
});

const tablesOf = (job: string): readonly Table[] => jobs.find(({ name }) => name === job)?.tables ?? [];

const contentOf = (rig: Rig, { name, key }: Table) =>
  rig.engine.read((sql) => sql(name).orderBy([...key])) as Promise<Record<string, unknown>[]>;

const allContents = (rig: Rig, job: string) => Promise.all(tablesOf(job).map((table) => contentOf(rig, table)));

/** The columns that the service sent, without load metadata. */
const allFacts = async (rig: Rig, job: string) =>
  (await allContents(rig, job)).map((rows) =>
    rows.map(({ _changed_at, _run_id, ...facts }) => facts).filter((facts) => '_missing_since' in facts),
  );

const controlRows = (rig: Pick<Rig, 'engine'>) =>
  Promise.all(CONTROL.map((table) => rig.engine.read((sql) => sql(table))));

/** Fails every transaction that has loaded something, just before its commit. */
function cutLoads(rig: Rig): () => void {
  const { engine } = rig.dependencies;
  rig.dependencies.engine = {
    ...engine,
    write: (work) =>
      engine.write(async (tx) => {
        let isLoading = false;
        const result = await work({
          ...tx,
          loadEncoded(...given) {
            isLoading = true;
            return tx.loadEncoded(...given);
          },
        });
        if (isLoading) throw new Fatal('cut', { code: 'cut' });
        return result;
      }),
  };
  return () => {
    rig.dependencies.engine = engine;
  };
}

const levers = (rig: Rig, method: string, body?: object) =>
  fetch(`${rig.sandbox.url}/_sandbox/records`, { method, ...(body && { body: JSON.stringify(body) }) });

test('every job that pulls is tried here', () => {
  const pulling = jobs.filter(({ name }) => name.startsWith('pull-')).map(({ name }) => name);
  expect(pulls.map(({ job }) => job).toSorted()).toEqual(pulling.toSorted());
});

describe.each(engineCases)('on $name', ({ name: engine }) => {
  it('every pull keeps its promises', { timeout: 240_000 }, async () => {
    const rig = await makeRig({ startAt: START, sandbox: { vehicles: 4 }, engine, movesPauses: true });
    try {
      for (const { job, options, call, invalid: record, marks, cuts } of pulls) {
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
          const [count] = await rig.rows(`select count(*) as n from sync_quarantine where job = '${job}'`);
          expect(count?.n).toBeGreaterThan(0);
        });
        await kept.prove(job, engine, 'loading twice changes nothing', async () => {
          const before = await allContents(rig, job);
          expect(await rig.run(job, options)).toMatchObject({ status: 'ok', inserted: 0, updated: 0 });
          expect(await allContents(rig, job)).toEqual(before);
        });
        await kept.prove(job, engine, 'the truth is never lagged', async () => {
          const before = await allFacts(rig, job);
          rig.sandbox.addFault({ call, fault: 'fewer-records' });
          await rig.run(job, options);
          rig.sandbox.clearFaults();
          const gone = (await allFacts(rig, job)).flat().filter(({ _missing_since }) => _missing_since);
          expect(gone.length > 0).toBe(marks === true);
          await rig.run(job, options);
          expect(await allFacts(rig, job)).toEqual(before);
        });
        await kept.prove(job, engine, 'every slice is bounded', async () => {
          const before = await allFacts(rig, job);
          rig.sandbox.addFault({ call, fault: '413', times: 1 });
          const { status, slices } = await rig.run(job, options);
          rig.sandbox.clearFaults();
          if (cuts === true) expect([status, slices > 1]).toEqual(['ok', true]);
          await rig.run(job, options);
          expect(await allFacts(rig, job)).toEqual(before);
        });
        await kept.prove(job, engine, 'one session, few logins', async () => {
          expect(rig.sandbox.ledger()).toMatchObject({ logins: 1, logins_rejected: 0 });
        });
        await kept.prove(job, engine, 'secrets stay in', async () => {
          const output = JSON.stringify([rig.logLines, await allContents(rig, job), await controlRows(rig)]);
          expect(output).not.toContain(rig.sandbox.credentials.password);
          expect(output).not.toMatch(TOKEN);
        });
        await kept.prove(job, engine, 'the same rows on every engine', async () => {
          for (const table of tablesOf(job)) {
            const rows = (await contentOf(rig, table)).map((row) => comparable(table, row));
            const other = contents.get(table.name);
            if (other !== undefined) expect(rows).toEqual(other);
            contents.set(table.name, rows);
          }
        });
        // This one comes last, because time passes in it.
        await kept.prove(job, engine, 'polite and bounded', async () => {
          const rejected = rig.sandbox.ledger().requests_by_status['429'] ?? 0;
          rig.sandbox.addFault({ call, fault: '429', times: 1, seconds: 0 });
          expect(await drive(rig.clock, rig.run(job, options))).toMatchObject({ status: 'ok' });
          rig.sandbox.clearFaults();
          expect(rig.sandbox.ledger().requests_by_status['429']).toBe(rejected + 1);
        });
      }
    } finally {
      await rig.close();
    }
  });

  it.each(pushCases)('$job keeps its promises', async (push) => {
    const { job } = push;
    const place = await makePushPlace({ engine });
    const counted = () => place.sandbox.ledger()[push.ledger] as Record<string, number>;
    const states = async () => (await place.outbox()).map(({ state }) => state).sort();
    const later = async () => {
      for (let runs = 0; runs < 3; runs++) {
        await place.clock.advance(HOUR_MS);
        await place.run(job);
      }
    };
    await kept.prove(job, engine, 'nothing is sent twice or lost', async () => {
      place.sandbox.addFault({ call: push.create, fault: 'reset-after-commit', times: 1 });
      place.drop(push.kind, 'a.json', [push.item(0), push.item(1)]);
      await place.run(job);
      await later();
      expect(await states()).toEqual(['confirmed', 'confirmed']);
      expect([counted()[push.name(0)], counted()[push.name(1)]]).toEqual([1, 1]);
    });
    await kept.prove(job, engine, 'loading twice changes nothing', async () => {
      const before = await place.outbox();
      place.drop(push.kind, 'b.json', [push.item(0), push.item(1)]);
      await place.run(job);
      await later();
      expect([counted()[push.name(0)], counted()[push.name(1)]]).toEqual([1, 1]);
      expect((await place.outbox()).map(({ sent_hash }) => sent_hash)).toEqual(
        before.map(({ sent_hash }) => sent_hash),
      );
    });
    await kept.prove(job, engine, 'polite and bounded', async () => {
      place.sandbox.addFault({ call: push.create, fault: '429', times: 1, seconds: 1 });
      place.drop(push.kind, 'c.json', [push.item(2)]);
      await place.run(job);
      await later();
      expect(counted()[push.name(2)]).toBe(1);
    });
    await kept.prove(job, engine, 'one session, few logins', async () => {
      expect(place.sandbox.ledger()).toMatchObject({ logins: 1, logins_rejected: 0 });
    });
    await kept.prove(job, engine, 'secrets stay in', async () => {
      const output = JSON.stringify([place.lines, await controlRows(place)]);
      expect(output).not.toContain(place.sandbox.credentials.password);
      expect(output).not.toMatch(TOKEN);
    });
  });

  it('every schedule has each local date once, over a change of the clocks and restarts', async () => {
    const place = await makePlace(engine);
    const warehouse = await place.open();
    await bringSchemaUpToDate(warehouse);
    try {
      // On the 8th there is no 2:30 in New York: the job runs at 3:30.
      const daily = { cron: '30 2 * * *', timezone: 'America/New_York' };
      await tick(warehouse, {
        jobs: jobs.map(({ name }) => ({ name, ...daily })),
        from: '2026-03-06T12:00:00.000Z',
        to: '2026-03-10T12:00:00.000Z',
        restartsAt: ['2026-03-08T06:45:00.000Z', '2026-03-08T07:45:00.000Z', '2026-03-09T12:00:00.000Z'],
      });
      const due = ['2026-03-07T07:30', '2026-03-08T07:30', '2026-03-09T06:30', '2026-03-10T06:30'];
      for (const { name } of jobs) {
        await kept.prove(name, engine, 'time is right', async () => {
          // A job that has never run runs at once, whatever its schedule says.
          const [, ...runs] = await warehouse.read((sql) => sql('sync_run').where({ job: name }).orderBy('tick_at'));
          expect(runs.map(({ tick_at }) => String(tick_at).slice(0, 16))).toEqual(due);
        });
      }
    } finally {
      await warehouse.close();
      await place.remove();
    }
  });

  it('return-executions notifies the ERP of each outcome once', async () => {
    const [job, place] = ['return-executions', await makePushPlace({ engine })];
    place.drop('route_plans', 'a.json', pushCases[0]?.item(0));
    await place.run('push-route-plans');
    await place.clock.advance(60 * HOUR_MS);
    await kept.prove(job, engine, 'nothing is dropped', async () => {
      expect(await place.run(job)).toMatchObject({ status: 'ok', records: 2, sent: 2, inserted: 2 });
    });
    await kept.prove(job, engine, 'loading twice changes nothing', async () => {
      expect(await place.run(job)).toMatchObject({ status: 'ok', sent: 0, unchanged: 2 });
    });
  });

  it('maintain-warehouse deletes what its options say, once', async () => {
    const job = 'maintain-warehouse';
    const rig = await makeRig({ startAt: START, sandbox: { vehicles: 2 }, engine });
    try {
      await rig.run('pull-events', { since: '10d' });
      const all = (await rig.rows('select * from event')).length;
      await rig.clock.advance(35 * 24 * HOUR_MS);
      const options = { retention: { event: '38d' } };
      await kept.prove(job, engine, 'nothing is dropped', async () => {
        const { records } = await rig.run(job, options);
        expect(records).toBeGreaterThan(0);
        expect((await rig.rows('select * from event')).length).toBe(all - records);
      });
      await kept.prove(job, engine, 'loading twice changes nothing', async () => {
        expect(await rig.run(job, options)).toMatchObject({ status: 'ok', records: 0 });
      });
    } finally {
      await rig.close();
    }
  });
});

/** Without run ids, which differ; JSON is compared parsed. */
function comparable(table: Table, row: Record<string, unknown>): Record<string, unknown> {
  const { _run_id, run_id, ...rest } = row;
  for (const { name, type } of table.columns) {
    if (type === 'json' && typeof rest[name] === 'string') rest[name] = JSON.parse(rest[name]);
  }
  return rest;
}
