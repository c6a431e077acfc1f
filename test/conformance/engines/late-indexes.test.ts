// Indexes that only queries use are created after the first fill of their table, however that ends, and only once.
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { runJob } from '../../../src/sync/run.ts';
import type { Row } from '../../../src/warehouse/engine.ts';
import { rowMapping } from '../../../src/warehouse/load/row-mapping.ts';
import { bringSchemaUpToDate, createLateIndexes } from '../../../src/warehouse/schema/converge.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { makeRig, type Rig } from '../../support/pull/rig.ts';
import { engineCases } from '../../support/warehouse/engines.ts';
import { metadataAt } from '../../support/warehouse/load-metadata.ts';

const START = '2026-03-10T15:00:00.000Z';
const JOB = 'pull-events';
const WITH_TABLE = ['idx_event_vehicle_id_begin_date'];
const LATE = ['idx_event__day_event_category'];
const ALL = [...LATE, ...WITH_TABLE].toSorted();

/** Changes with every change of the schema, or with one of the indexes of `event`. */
const SCHEMA_STATE = {
  sqlite: 'pragma schema_version',
  postgres: "select oid, xmin::text from pg_class where relname like 'idx_event%' order by oid",
};

const eventAt = (id: number, begin_date: string): Row => {
  const mapped = rowMapping(event)({ event_category: 1, id, begin_date });
  if (!('row' in mapped)) throw new Error(mapped.invalid);
  return mapped.row;
};

let rig: Rig;
const indexes = async (): Promise<string[]> => {
  const found = await rig.engine.read((sql) => rig.engine.indexesOf(sql, event.name));
  return found.filter((name) => name.startsWith('idx_')).toSorted();
};
const load = (...rows: Row[]) => rig.engine.write((tx) => tx.load(event, rows, metadataAt('run-1', START)));
const warnings = () => rig.logLines.filter((line) => line.includes('indexes not created'));

afterEach(() => rig.close());
afterAll(stopPostgres);

describe.each(engineCases)('on $name, the indexes of events that only queries use', ({ name: engine }) => {
  beforeEach(async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 2 }, engine });
  });

  it('are absent from a new warehouse, and exist after the first run', async () => {
    expect(await indexes()).toEqual(WITH_TABLE);
    expect(await rig.run(JOB)).toMatchObject({ status: 'ok' });
    expect(await indexes()).toEqual(ALL);
  });

  it('are not touched by further runs', async () => {
    await rig.run(JOB);
    const before = await rig.rows(SCHEMA_STATE[engine]);
    await rig.clock.advance(3_600_000);
    expect((await rig.run(JOB)).inserted).toBeGreaterThan(0);
    expect(await rig.rows(SCHEMA_STATE[engine])).toEqual(before);
    expect(warnings()).toEqual([]);
    const unwritable = { ...rig.engine, write: () => Promise.reject(new Error('the writer was taken')) };
    await createLateIndexes(unwritable, [event]);
  });

  it('wait for the first row, however often a process starts or a run ends', async () => {
    await rig.run(JOB, {}, { beginAt: START, endAt: START, resumable: false });
    await bringSchemaUpToDate(rig.engine);
    expect(await rig.rows('select id from event')).toEqual([]);
    expect(await indexes()).toEqual(WITH_TABLE);
  });

  it('are created by the next start where a process died during the first fill', async () => {
    await load(eventAt(1, START));
    expect(await indexes()).toEqual(WITH_TABLE);
    await bringSchemaUpToDate(rig.engine);
    expect(await indexes()).toEqual(ALL);
  });

  it('are created by a run that fails', async () => {
    await rig.run('pull-vehicles');
    const { dispatcher } = rig.dependencies;
    rig.dependencies.dispatcher = {
      ...dispatcher,
      async dispatch(work) {
        await dispatcher.dispatch(work);
        throw new Error('lost');
      },
    };
    expect(await rig.run(JOB)).toMatchObject({ status: 'failed' });
    expect(await indexes()).toEqual(ALL);
  });

  it('are created by a run that is stopped', async () => {
    await rig.run('pull-vehicles');
    const job = (await loadJobs()).find(({ name }) => name === JOB);
    if (job === undefined) throw new Error(`no job ${JOB}`);
    const stop = new AbortController();
    // More slices than run at once.
    const options = job.options.parse({ since: '300d' }) as Record<string, unknown>;
    const { signal } = stop;
    const { summary } = await runJob(
      { job, options, cause: 'manual', signal, onProgress: () => stop.abort() },
      rig.dependencies,
    );
    expect(summary).toMatchObject({ status: 'partial', error: { code: 'stopped' } });
    expect(await indexes()).toEqual(ALL);
  });

  it('are created by a later run where one cannot create them, and that run still succeeds', async () => {
    await rig.engine.write(({ sql }) => sql.raw('create table idx_event__day_event_category (id integer)'));
    expect(await rig.run(JOB)).toMatchObject({ status: 'ok' });
    expect(warnings()).toHaveLength(1);
    expect(await indexes()).toEqual(WITH_TABLE);
    await rig.engine.write(({ sql }) => sql.raw('drop table idx_event__day_event_category'));
    await rig.run(JOB);
    expect(await indexes()).toEqual(ALL);
  });
});

describe('on postgres, the indexes of events that only queries use', () => {
  it('are on the months that were created before them, and on those that are created later', async () => {
    rig = await makeRig({ startAt: START, sandbox: { vehicles: 2 }, engine: 'postgres' });
    await load(eventAt(1, '2031-07-15T00:00:00.000Z'));
    await rig.run(JOB);
    await load(eventAt(2, '2031-08-15T00:00:00.000Z'));
    const months = ['event_2031_07', 'event_2031_08'];
    const found = await rig.rows(
      `select tablename, count(*) as indexes from pg_indexes where tablename in ('${months.join("', '")}')
       and (indexdef like '%(begin_date)' or indexdef like '%(_day, event_category)')
       group by tablename order by tablename`,
    );
    expect(found).toEqual(months.map((tablename) => ({ tablename, indexes: LATE.length })));
  });
});
