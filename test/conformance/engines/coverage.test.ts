// Coverage on every engine: the ranges that were read are stored for each job and scope.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { windowsToRead } from '../../../src/sync/pull/plan/window-slices.ts';
import {
  coverageOf,
  coveredBounds,
  EVER,
  invalidate,
  invalidateFuture,
  markCovered,
} from '../../../src/warehouse/control/coverage.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { engineCases } from '../../support/warehouse/engines.ts';

const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}T00:00:00.000Z`;
const days = (begin: number, end: number) => ({ beginAt: day(begin), endAt: day(end) });
const by = (job: string, runId: string, read: number) => ({ job, runId, at: day(read) });

describe.each(engineCases)('coverage on $name', ({ make }) => {
  let place: Awaited<ReturnType<typeof make>>;
  let engine: Engine;

  beforeAll(async () => {
    place = await make();
    engine = await place.open();
    await bringSchemaUpToDate(engine);
  });
  beforeEach(() => engine.write(({ sql }) => sql('sync_coverage').delete()));
  afterAll(async () => {
    await engine.close();
    await place.remove();
  });

  const covered = (scopes: string[], begin: number, end: number, who = by('j', 'r1', 10)) =>
    engine.write((tx) => markCovered(tx, { scopes, ...days(begin, end) }, who));
  const cut = (scopes: string[], begin: number, end: number, who = by('j', 'r2', 11)) =>
    engine.write((tx) => invalidate(tx, { scopes, ...days(begin, end) }, who));
  /** Job, scope, days, the run that read them and when. */
  const ranges = async (): Promise<string[]> => {
    const rows = await engine.read((sql) => sql('sync_coverage').orderBy(['job', 'scope', 'begin_at']));
    return rows.map(({ job, scope, begin_at, end_at, covered_at, run_id }) => {
      const [begin, end, read] = [begin_at, end_at, covered_at].map((at: string) => Number(at.slice(8, 10)));
      return `${job} ${scope} ${begin}-${end} ${run_id}@${read}`;
    });
  };

  it('joins ranges that touch and keeps other ranges separate', async () => {
    const read = async (begin: number, end: number) => {
      await covered(['s'], begin, end);
      return (await ranges()).map((each) => each.split(' ')[2]);
    };
    expect(await read(5, 6)).toEqual(['5-6']);
    expect(await read(8, 9)).toEqual(['5-6', '8-9']);
    expect(await read(6, 7)).toEqual(['5-7', '8-9']);
    expect(await read(1, 4)).toEqual(['1-4', '5-7', '8-9']);
    expect(await read(3, 8)).toEqual(['1-9']);
    expect(await read(2, 3), 'what lies within changes nothing').toEqual(['1-9']);
  });

  it('is kept for each job and scope, with the run that read it last', async () => {
    await covered(['b', 'c'], 1, 3);
    await covered(['a', 'b'], 3, 5, by('j', 'r2', 11));
    await covered(['a'], 2, 4, by('k', 'r3', 12));
    expect(await ranges()).toEqual(['j a 3-5 r2@11', 'j b 1-5 r2@11', 'j c 1-3 r1@10', 'k a 2-4 r3@12']);
    expect(await coverageOf(engine, 'j')).toEqual(
      new Map([
        ['a', [days(3, 5)]],
        ['b', [days(1, 5)]],
        ['c', [days(1, 3)]],
      ]),
    );
  });

  it('starts at the epoch where a listing has no period', async () => {
    await engine.write((tx) => markCovered(tx, { scopes: ['all'], beginAt: EVER, endAt: day(3) }, by('j', 'r1', 3)));
    expect(await coverageOf(engine, 'j')).toEqual(
      new Map([['all', [{ beginAt: '1970-01-01T00:00:00.000Z', endAt: day(3) }]]]),
    );
  });

  it('is invalidated within a period, for the named scopes of one job only', async () => {
    await covered(['a', 'b', 'c'], 1, 9);
    await covered(['a'], 1, 9, by('k', 'r1', 10));
    await cut(['a', 'b'], 3, 5);
    await cut(['b'], 5, 20);
    await cut(['c'], 9, 12);
    expect(await ranges(), 'an invalidation reads nothing').toEqual([
      'j a 1-3 r1@10',
      'j a 5-9 r1@10',
      'j b 1-3 r1@10',
      'j c 1-9 r1@10',
      'k a 1-9 r1@10',
    ]);
    expect((await coverageOf(engine, 'j')).get('a')).toEqual([days(1, 3), days(5, 9)]);
  });

  it('begins and ends for each scope of a job, whatever lies between', async () => {
    await covered(['a', 'b'], 2, 3);
    await covered(['a', 'c'], 5, 6);
    await covered(['a'], 1, 9, by('k', 'r1', 10));
    expect(await engine.write((tx) => coveredBounds(tx, 'j', ['a', 'b', 'd']))).toEqual(
      new Map([
        ['a', days(2, 6)],
        ['b', days(2, 3)],
      ]),
    );
  });

  it('marks more scopes covered at once than one statement can hold', async () => {
    const scopes = Array.from({ length: 1_101 }, (_, index) => `vehicle ${index}`);
    await covered(scopes, 1, 3);
    await covered(scopes, 3, 5);
    const all = await coverageOf(engine, 'j');
    expect(all.size).toBe(scopes.length);
    expect([...all.values()].every((own) => own.length === 1 && own[0]?.endAt === day(5))).toBe(true);
    await cut(scopes, 2, 4);
    expect([...(await coverageOf(engine, 'j')).values()].flat()).toHaveLength(2 * scopes.length);
  });

  it('is invalidated after now where a clock that was set back has read ahead', async () => {
    await covered(['past'], 1, 3, by('j', 'r1', 3));
    await covered(['across'], 1, 9, by('j', 'r2', 8));
    await covered(['ahead'], 6, 9, by('j', 'r2', 9));
    await covered(['touching'], 5, 9, by('j', 'r2', 9));
    await covered(['before'], 1, 4, by('j', 'r2', 6));
    await covered(['other job'], 1, 9, by('k', 'r3', 9));
    await invalidateFuture(engine, 'j', day(5));
    expect(await ranges()).toEqual([
      'j across 1-5 r2@1',
      'j before 1-4 r2@1',
      'j past 1-3 r1@3',
      'k other job 1-9 r3@9',
    ]);
  });

  it('is not written where no read lies ahead of now', async () => {
    await covered(['a'], 1, 9, by('j', 'r1', 5));
    const readOnly = { read: engine.read, write: () => Promise.reject(new Error('written')) };
    await invalidateFuture(readOnly, 'j', day(5));
    expect(await ranges()).toEqual(['j a 1-9 r1@5']);
  });

  it('gives the next run its open ranges, by the single scope of a timeline', async () => {
    await covered(['all'], 1, 8);
    await covered(['other'], 1, 10);
    const HOUR = 3_600_000;
    const options = { since: 240 * HOUR, lookback: 24 * HOUR };
    const context = { options, now: Date.parse(day(10)), coverageName: 'j', warehouse: engine };
    const windows = await windowsToRead(context as unknown as Parameters<typeof windowsToRead>[0]);
    expect(windows).toEqual([
      { begin: Date.parse('2025-12-31T00:00:00Z'), end: Date.parse(day(1)) },
      { begin: Date.parse(day(7)), end: Date.parse(day(10)) },
    ]);
    const none = { ...context, coverageName: 'k' } as unknown as Parameters<typeof windowsToRead>[0];
    expect(await windowsToRead(none)).toEqual([
      { begin: Date.parse('2025-12-31T00:00:00Z'), end: Date.parse(day(10)) },
    ]);
  });
});
