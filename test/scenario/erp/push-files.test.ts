// Dropped files in whole push runs: a file stays until all its items are final in the outbox, then its result is
// written and it moves. A process that ends between any two of these steps loses nothing and reports nothing wrong.
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { act, retry } from '../../../src/sync/push/actions.ts';
import { outboxAttention } from '../../../src/sync/push/attention.ts';
import { pushIssues } from '../../../src/sync/push/push-issues.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { makeSqliteErp } from '../../support/erp/sqlite-erp.ts';
import { makePushPlace, type PlaceOptions, type PushPlace } from '../../support/push/push-place.ts';
import { agent, CPFS, plan, pointOfInterest } from '../../support/push/push-samples.ts';

afterAll(stopPostgres);

const JOB = 'push-route-plans';
const IMPORT = 'import-route-plan' as const;
const HOUR = 3_600_000;

const path = (place: PushPlace, ...parts: string[]) => join(place.folder('route_plans'), ...parts);

/** Without result tables. */
function namesIn(place: PushPlace, ...parts: string[]): string[] {
  const folder = path(place, ...parts);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.(json|csv)$/.test(name) && !name.endsWith('.result.csv'))
    .sort();
}

interface ItemResult {
  external_code: string;
  period_start: string | null;
  state: string;
  remote_id: number | null;
  reasons: string[];
}

const resultsIn = (place: PushPlace, name: string): ItemResult[] =>
  JSON.parse(readFileSync(path(place, `${name}.result.json`), 'utf8')).results;
const statesIn = (place: PushPlace, name: string) =>
  resultsIn(place, name).map(({ external_code, state }) => [external_code, state]);

const lateResults = (place: PushPlace): [string, string][] =>
  !existsSync(path(place, 'late-results.jsonl'))
    ? []
    : readFileSync(path(place, 'late-results.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map(({ external_code, state }) => [external_code, state]);

const marks = (place: PushPlace): Promise<string[]> =>
  place.engine.read(async (sql) =>
    (await sql('sync_state').where('name', 'like', 'taken file %').orderBy('name').select('name')).map(
      ({ name }) => name,
    ),
  );

async function filesOf(place: PushPlace) {
  const files = (await place.dependencies.erp('route_plans'))?.source.files;
  if (files === undefined) throw new Error('the feed has no files');
  return files;
}

const day = (date: string) => ({
  date_time_start: `${date}T08:00:00-03:00`,
  date_time_end: `${date}T18:00:00-03:00`,
});

/** P1 is confirmed, and the outcome of P2 is unknown; both are in a.json, which waits. */
async function waiting(options: PlaceOptions = {}): Promise<PushPlace> {
  const place = await makePushPlace(options);
  place.dependencies.concurrency = 1;
  place.drop('route_plans', 'a.json', [plan('P1'), plan('P2')]);
  place.sandbox.addFault({ call: IMPORT, fault: '500', skip: 1 });
  await place.run(JOB);
  expect((await place.outbox()).map(({ state }) => state)).toEqual(['confirmed', 'unknown']);
  expect(namesIn(place)).toEqual(['a.json']);
  expect(await marks(place)).toEqual(['taken file route_plans a.json']);
  return place;
}

async function answerAgain(place: PushPlace): Promise<void> {
  place.sandbox.clearFaults();
  for (let runs = 0; runs < 4; runs++) {
    await place.clock.advance(HOUR);
    await place.run(JOB);
  }
}

describe('a file that waits', () => {
  it.each([false, true])('reports all of its items at once, also after a restart (%s)', async (isOther) => {
    const place = await waiting();
    if (isOther) place.restart();
    await place.run(JOB);
    expect(namesIn(place)).toEqual(['a.json']);
    await answerAgain(place);
    expect(namesIn(place)).toEqual([]);
    expect(statesIn(place, 'done/a.json')).toEqual([
      ['P1', 'confirmed'],
      ['P2', 'confirmed'],
    ]);
    expect(lateResults(place)).toEqual([]);
    expect(await marks(place)).toEqual([]);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P2: 1 });
  });

  it('is not offered again, which would overwrite the content of a newer file', async () => {
    const place = await makePushPlace();
    const JOB_POI = 'push-points-of-interest';
    place.drop('points_of_interest', 'a.json', [pointOfInterest('Shop', { phone: '1' }), pointOfInterest('Yard')]);
    place.dependencies.concurrency = 1;
    place.sandbox.addFault({ call: 'create-point-of-interest', fault: '500', skip: 1 });
    await place.run(JOB_POI);
    place.drop('points_of_interest', '0-newer.json', pointOfInterest('Shop', { phone: '2' }));
    for (let runs = 0; runs < 3; runs++) {
      place.restart();
      await place.run(JOB_POI);
    }
    const folder = place.folder('points_of_interest');
    expect(existsSync(join(folder, 'a.json'))).toBe(true);
    expect(readdirSync(join(folder, 'done'))).toContain('0-newer.json');
    const { requests } = place.sandbox.ledger();
    expect(requests['change-point-of-interest']).toBe(1);
  });

  it('that is replaced is read as new; items that only the older file had get late results', async () => {
    const place = await waiting();
    place.drop('route_plans', 'a.json', [plan('P2'), plan('P3')]);
    await place.run(JOB);
    expect(lateResults(place)).toEqual([['P1', 'confirmed']]);
    await answerAgain(place);
    expect(statesIn(place, 'done/a.json')).toEqual([
      ['P2', 'confirmed'],
      ['P3', 'confirmed'],
    ]);
    expect(lateResults(place)).toEqual([['P1', 'confirmed']]);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P2: 1, P3: 1 });
  });

  it.each(['sqlite', 'postgres'] as const)('that the ERP removes gets late results (%s)', async (engine) => {
    const place = await waiting({ engine });
    rmSync(path(place, 'a.json'));
    place.restart();
    await place.run(JOB);
    const first = [
      ['P1', 'confirmed'],
      ['P2', 'unknown'],
    ];
    expect(lateResults(place)).toEqual(first);
    await answerAgain(place);
    expect(lateResults(place)).toEqual([...first, ['P2', 'confirmed']]);
    expect(await marks(place)).toEqual([]);
    expect([namesIn(place, 'done'), namesIn(place, 'failed')]).toEqual([[], []]);
  });

  it('gets late results if it is removed after a newer file with its code was removed too', async () => {
    const place = await makePushPlace();
    place.dependencies.concurrency = 1;
    place.sandbox.addFault({ call: IMPORT, fault: '422', times: 1 });
    place.sandbox.addFault({ call: IMPORT, fault: '500', skip: 1, times: 1 });
    place.drop('route_plans', 'a.json', [plan('P1'), plan('P2')]);
    await place.run(JOB);
    expect((await place.outbox()).map(({ state }) => state)).toEqual(['rejected', 'unknown']);
    await place.clock.advance(HOUR);
    place.sandbox.addFault({ call: IMPORT, fault: '500', skip: 1 });
    place.drop('route_plans', 'b.json', [plan('P1', { date_time_end: '2025-03-13T17:00:00-03:00' }), plan('P3')]);
    await place.run(JOB);
    expect(await place.entry('P1')).toMatchObject({
      state: 'confirmed',
      origin: expect.stringMatching('b.json'),
    });
    for (const name of ['b.json', 'a.json']) {
      expect(lateResults(place)).not.toContainEqual(['P1', 'confirmed']);
      rmSync(path(place, name));
      await place.run(JOB);
    }
    expect(lateResults(place)).toContainEqual(['P1', 'confirmed']);
    expect(await marks(place)).toEqual([]);
  });

  it.each(['sqlite', 'postgres'] as const)(
    'is forgotten if the feed becomes a query, and its items are acknowledged there (%s)',
    async (engine) => {
      const feeds: PlaceOptions['feeds'] = {};
      const place = await waiting({ engine, feeds });
      const erp = await makeSqliteErp(['plan.external_code'], 'false');
      feeds.route_plans = erp.feed;
      place.restart();
      await place.run(JOB);
      expect(await erp.acknowledgements('P1')).toMatchObject([{ state: 'confirmed' }]);
      expect(await marks(place)).toEqual([]);
      await answerAgain(place);
      expect((await erp.acknowledgements('P2')).at(-1)).toMatchObject({ state: 'confirmed' });
    },
  );

  it('waits up to `settle` for an identifier, so that its result has it', async () => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: 60_000 } });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    expect(await place.entry('P1')).toMatchObject({ state: 'confirmed', remote_id: null });
    expect(namesIn(place)).toEqual(['a.json']);
    await place.clock.advance(90_000);
    await place.run(JOB);
    expect(resultsIn(place, 'done/a.json')).toMatchObject([{ remote_id: expect.any(Number) }]);
    expect(lateResults(place)).toEqual([]);
  });

  it('keeps its entries, however long it waits', async () => {
    const place = await waiting();
    const { created_at } = await place.entry('P1');
    for (let runs = 0; runs < 3; runs++) {
      await place.clock.advance(2 * HOUR);
      await place.run(JOB, { keep_confirmed: '1h' });
    }
    expect(namesIn(place)).toEqual(['a.json']);
    expect(await place.entry('P1')).toMatchObject({ created_at, told_at: null });
  });

  it('does not make its final items need a person', async () => {
    const place = await waiting();
    await place.clock.advance(HOUR);
    const reasons = async () => (await outboxAttention(place.engine, place.now())).map(({ reason }) => reason);
    expect(await reasons()).toEqual(['unknown']);
    await place.engine.write(({ sql }) => sql('sync_state').where('name', 'like', 'taken file %').delete());
    expect(await reasons()).toEqual(['not_acknowledged', 'unknown']);
  });

  it('is read again when the outbox does not know one of its items', async () => {
    const place = await waiting();
    await place.engine.write(({ sql }) => sql('push_outbox').where({ external_code: 'P1' }).delete());
    await answerAgain(place);
    expect(statesIn(place, 'done/a.json')).toEqual([
      ['P1', 'confirmed'],
      ['P2', 'confirmed'],
    ]);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P2: 1 });
  });

  it('is not shown by a preview, except for entries that still have to be read back', async () => {
    const place = await waiting();
    const lines = await place.preview(JOB);
    expect(lines).toEqual([{ what: 'read back', detail: expect.objectContaining({ external_code: 'P2' }) }]);
  });

  it('of more than a page is finished when its last open item is final, on whichever page', async () => {
    const place = await makePushPlace();
    // Rejected at once, so that only the last one is sent.
    const invalid = Array.from({ length: 600 }, (_, i) => plan(`I${i}`, { vehicle_plate: '?' }));
    place.drop('route_plans', 'a.json', [...invalid, plan('LAST')]);
    place.sandbox.addFault({ call: IMPORT, fault: '500' });
    await place.run(JOB);
    await place.run(JOB);
    expect(namesIn(place)).toEqual(['a.json']);
    await answerAgain(place);
    const results = resultsIn(place, 'failed/a.json');
    expect(results.map(({ external_code }) => external_code)).toEqual([
      ...invalid.map(({ external_code }) => external_code),
      'LAST',
    ]);
    expect(results.filter(({ state }) => state === 'confirmed')).toHaveLength(1);
  });
});

describe('a process that ends', () => {
  it('before the last batch of a file is committed leaves the file to be read from its start', async () => {
    const place = await makePushPlace();
    const invalid = Array.from({ length: 600 }, (_, i) => plan(`I${i}`, { vehicle_plate: '?' }));
    place.drop('route_plans', 'a.json', [...invalid, plan('LAST')]);
    const { write } = place.engine;
    let isCut = false;
    const cutting = {
      ...place.engine,
      write: async (work: never, how: never) => {
        const known = (await place.outbox()).length;
        if (known >= 500 && !isCut) {
          isCut = true;
          throw new Error('cut');
        }
        return write(work, how);
      },
    };
    Object.assign(place.dependencies, { engine: cutting });
    await place.run(JOB).catch(() => undefined);
    Object.assign(place.dependencies, { engine: place.engine });
    expect([isCut, (await place.outbox()).length, await marks(place)]).toEqual([true, 500, []]);
    place.restart();
    await place.run(JOB);
    expect(resultsIn(place, 'failed/a.json')).toHaveLength(601);
    expect(place.sandbox.ledger().plans).toEqual({ LAST: 1 });
  });

  it('before the file is finished leaves that to the next process', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    const files = await filesOf(place);
    const { finish } = files;
    files.finish = () => Promise.reject(new Error('cut'));
    await place.run(JOB);
    expect((await place.entry('P1')).told_at).toBeNull();
    files.finish = finish;
    place.restart();
    await place.run(JOB);
    expect(statesIn(place, 'done/a.json')).toEqual([['P1', 'confirmed']]);
    expect(lateResults(place)).toEqual([]);
    expect((await place.entry('P1')).told_at).toBe(place.now());
  });

  it('after the file was moved and before the warehouse stores it reports its items once more', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    const files = await filesOf(place);
    const { finish } = files;
    files.finish = async (...given) => {
      await finish(...given);
      throw new Error('cut');
    };
    await place.run(JOB);
    expect(namesIn(place)).toEqual([]);
    expect(await marks(place)).toEqual(['taken file route_plans a.json']);
    place.restart();
    await place.run(JOB);
    await place.run(JOB);
    expect([await marks(place), lateResults(place)]).toEqual([[], [['P1', 'confirmed']]]);
    expect(namesIn(place, 'done')).toEqual(['a.json', 'a.json.result.json']);
  });
});

it('one file that cannot be finished does not hold up the others, and the run reports it', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', plan('P1'));
  place.drop('route_plans', 'b.json', plan('P2'));
  place.drop('route_plans', 'done/a.json.result.json/in-the-way', '');
  expect((await place.run(JOB)).error?.code).toBe('erp_folder_unusable');
  expect(namesIn(place)).toEqual(['a.json']);
  expect(statesIn(place, 'done/b.json')).toEqual([['P2', 'confirmed']]);
  rmSync(path(place, 'done', 'a.json.result.json'), { recursive: true });
  expect((await place.run(JOB)).error).toBeNull();
  expect(statesIn(place, 'done/a.json')).toEqual([['P1', 'confirmed']]);
});

describe('two files', () => {
  it('with one code both report it', async () => {
    const place = await waiting();
    place.drop('route_plans', 'b.json', plan('P1'));
    place.drop('route_plans', 'c.json', [plan('P1'), plan('P2')]);
    await place.run(JOB);
    expect([namesIn(place), statesIn(place, 'done/b.json')]).toEqual([['a.json', 'c.json'], [['P1', 'confirmed']]]);
    await answerAgain(place);
    for (const name of ['a.json', 'c.json'])
      expect(statesIn(place, `done/${name}`)).toEqual([
        ['P1', 'confirmed'],
        ['P2', 'confirmed'],
      ]);
    expect(lateResults(place)).toEqual([]);
  });

  it.each(['in one file', 'in two files'])('a reused code on two days, %s, has two outcomes', async (where) => {
    const place = await makePushPlace({ reuseCodes: true });
    place.dependencies.concurrency = 1;
    const [first, second] = [plan('R7', day('2025-03-13')), plan('R7', day('2025-03-14'))];
    if (where === 'in one file') place.drop('route_plans', 'a.json', [first, second]);
    else {
      place.drop('route_plans', 'a.json', first);
      place.drop('route_plans', 'b.json', second);
    }
    place.sandbox.addFault({ call: IMPORT, fault: '422', skip: 1, times: 1 });
    await place.run(JOB, { reuse_codes: true });
    place.restart();
    await place.run(JOB, { reuse_codes: true });
    const reported = where === 'in one file' ? ['failed/a.json'] : ['done/a.json', 'failed/b.json'];
    expect(
      reported.flatMap((name) => resultsIn(place, name)).map(({ period_start, state }) => [period_start, state]),
    ).toEqual([
      ['2025-03-13T11:00:00.000Z', 'confirmed'],
      ['2025-03-14T11:00:00.000Z', 'rejected'],
    ]);
    expect(lateResults(place)).toEqual([]);
  });

  it('with one code on two days, which must not be reused, each report their own outcome', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('R7', day('2025-03-13')));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('R7', day('2025-03-14')));
    await place.run(JOB);
    expect(resultsIn(place, 'done/a.json')).toMatchObject([{ state: 'confirmed' }]);
    expect(resultsIn(place, 'failed/b.json')).toMatchObject([
      {
        period_start: '2025-03-14T11:00:00.000Z',
        state: 'rejected',
        reasons: [expect.stringMatching('code_reused')],
      },
    ]);
  });
});

describe('an item', () => {
  it('without a readable start is answered by the latest use of its code', async () => {
    const place = await makePushPlace({ reuseCodes: true });
    const reuse = { reuse_codes: true };
    for (const date of ['2025-03-13', '2025-03-14']) {
      place.drop('route_plans', `${date}.json`, plan('R7', day(date)));
      await place.run(JOB, reuse);
    }
    place.drop('route_plans', 'a.json', plan('R7', { date_time_start: 'soon' }));
    await place.run(JOB, reuse);
    expect(resultsIn(place, 'done/a.json')).toMatchObject([
      { period_start: '2025-03-14T11:00:00.000Z', state: 'confirmed' },
    ]);
  });

  it('of a reused code is never answered by another day, even when its own entry is gone', async () => {
    const place = await waiting({ reuseCodes: true });
    const reuse = { reuse_codes: true };
    place.drop('route_plans', 'b.json', plan('P1', day('2025-03-14')));
    place.sandbox.clearFaults();
    await place.run(JOB, reuse);
    expect(resultsIn(place, 'done/b.json')).toMatchObject([{ period_start: '2025-03-14T11:00:00.000Z' }]);
    await place.engine.write(({ sql }) =>
      sql('push_outbox').where('period_start', '<', '2025-03-14').where({ external_code: 'P1' }).delete(),
    );
    await place.clock.advance(HOUR);
    for (let runs = 0; runs < 3; runs++) await place.run(JOB, reuse);
    expect(resultsIn(place, 'done/a.json').map(({ period_start }) => period_start?.slice(0, 10))).toEqual([
      '2025-03-13',
      '2025-03-13',
    ]);
  });

  it('that a newer file moved to another day is answered by that day in both results', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: IMPORT, fault: '403' });
    place.drop('route_plans', 'a.json', plan('P1', day('2025-03-13')));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', day('2025-03-14')));
    await answerAgain(place);
    for (const name of ['done/a.json', 'done/b.json'])
      expect(resultsIn(place, name)).toMatchObject([{ period_start: '2025-03-14T11:00:00.000Z' }]);
    expect(lateResults(place)).toEqual([]);
  });
});

describe('late results', () => {
  it('do not include an item that could not be read: the result of its file has it', async () => {
    const place = await makePushPlace();
    place.dependencies.concurrency = 1;
    const twice = [plan('P2'), plan('P2', { vehicle_id: 1 })];
    place.drop('route_plans', 'a.json', [plan('P1'), ...twice]);
    place.sandbox.addFault({ call: IMPORT, fault: '500' });
    await place.run(JOB);
    expect([namesIn(place), lateResults(place)]).toEqual([['a.json'], []]);
    place.restart();
    await answerAgain(place);
    expect(statesIn(place, 'failed/a.json')).toEqual([
      ['P1', 'confirmed'],
      ['P2', 'rejected'],
    ]);
    expect(lateResults(place)).toEqual([]);
  });

  it('include a plan at the service for which a waiting file has a read error', async () => {
    const place = await makePushPlace();
    place.dependencies.concurrency = 1;
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.sandbox.addFault({ call: IMPORT, fault: '500' });
    place.drop('route_plans', 'b.json', [plan('P1'), plan('P1', { vehicle_id: 1 }), plan('P2')]);
    await place.run(JOB);
    expect([namesIn(place), lateResults(place)]).toEqual([['b.json'], [['P1', 'confirmed']]]);
  });

  it('include every change after the file has moved, also while another file waits', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: IMPORT, fault: '422', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    expect(statesIn(place, 'failed/a.json')).toEqual([['P1', 'rejected']]);
    place.sandbox.addFault({ call: IMPORT, fault: '500' });
    place.drop('route_plans', 'b.json', plan('P2'));
    await place.run(JOB);
    place.sandbox.clearFaults();
    await act(place.engine, await place.entry('P1'), retry, place.now());
    await place.run(JOB);
    expect([namesIn(place), lateResults(place)]).toEqual([['b.json'], [['P1', 'confirmed']]]);
  });
});

it('finished files are removed by a run once their retention has passed', async () => {
  const place = await makePushPlace({ keepFilesMs: 24 * HOUR });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  place.drop('route_plans', 'b.json', plan('P2'));
  await place.run(JOB);
  const finishedAt = (name: string, ms: number) =>
    utimesSync(path(place, 'done', `${name}.result.json`), ms / 1_000, ms / 1_000);
  finishedAt('a.json', place.clock.now() - 23 * HOUR);
  finishedAt('b.json', place.clock.now());
  await place.clock.advance(2 * HOUR);
  await place.run(JOB);
  expect(namesIn(place, 'done')).toEqual(['b.json', 'b.json.result.json']);
});

describe('a read error', () => {
  const reuse = { reuse_codes: true };
  const filler = Array.from({ length: 505 }, (_, i) => plan(`F${i}`, { date_time_start: 'soon' }));
  const uses = async (place: PushPlace) =>
    (await place.outbox())
      .filter(({ external_code }) => external_code === 'R7')
      .map(({ period_start, state }) => [period_start?.slice(0, 10) ?? null, state]);

  it('of one day leaves the plan of another day alone', async () => {
    const place = await makePushPlace({ reuseCodes: true });
    const broken = plan('R7', { ...day('2025-03-14'), options: 5 });
    place.drop('route_plans', 'a.json', [plan('R7', day('2025-03-13')), broken]);
    await place.run(JOB, reuse);
    await place.run(JOB, reuse);
    expect(place.sandbox.ledger().plans).toEqual({ R7: 1 });
    expect(await uses(place)).toEqual([
      ['2025-03-13', 'confirmed'],
      [null, 'rejected'],
    ]);
    expect(statesIn(place, 'failed/a.json')).toEqual([
      ['R7', 'confirmed'],
      ['R7', 'rejected'],
    ]);
  });

  it('of one day does not remove the content of an unknown plan of another day', async () => {
    const place = await makePushPlace({ reuseCodes: true });
    place.drop('route_plans', 'a.json', [plan('R7', day('2025-03-13'))]);
    place.sandbox.addFault({ call: IMPORT, fault: '500', times: 1 });
    await place.run(JOB, reuse);
    place.drop('route_plans', 'b.json', [plan('R7', { ...day('2025-03-14'), options: 5 })]);
    await place.run(JOB, reuse);
    await place.clock.advance(HOUR);
    for (let run = 0; run < 3; run++) {
      await place.run(JOB, reuse);
      await place.clock.advance(HOUR);
    }
    expect(place.sandbox.ledger().plans).toEqual({ R7: 1 });
  });

  it('in a later part keeps its item from being sent, and no other day of the code', async () => {
    const place = await makePushPlace({ reuseCodes: true });
    const [first, second] = [plan('R7', day('2025-03-13')), plan('R7', day('2025-03-14'))];
    place.drop('route_plans', 'a.json', [first, second, ...filler, first]);
    await place.run(JOB, reuse);
    expect(await uses(place)).toEqual([
      ['2025-03-14', 'confirmed'],
      [null, 'rejected'],
    ]);
  });

  it('in a later part keeps its item from being sent, even if that part could not be stored', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', [plan('R7'), ...filler, plan('R7', { route_points: [] })]);
    const { engine } = place.dependencies;
    let batches = 0;
    place.dependencies.engine = {
      ...engine,
      write(work, how) {
        if (String(work).includes('markTaken') && ++batches === 2) throw new Error('no room');
        return engine.write(work, how);
      },
    };
    await place.run(JOB);
    expect(batches).toBe(2);
    expect(place.sandbox.ledger().plans).toEqual({});
    place.dependencies.engine = engine;
    await place.run(JOB);
    expect(place.sandbox.ledger().plans).toEqual({});
    expect(namesIn(place, 'failed')).toEqual(['a.json', 'a.json.result.json']);
  });

  it('in the end of a plan leaves the other day of the code alone, and its file is finished', async () => {
    const place = await makePushPlace({ reuseCodes: true });
    place.drop('route_plans', 'a.json', [plan('R7', day('2025-03-13'))]);
    await place.run(JOB, reuse);
    place.drop('route_plans', 'b.json', [plan('R7', { ...day('2025-03-14'), date_time_end: 'soon' })]);
    await place.run(JOB, reuse);
    expect(namesIn(place)).toEqual([]);
    expect(statesIn(place, 'failed/b.json')).toEqual([['R7', 'rejected']]);
    expect(await uses(place)).toEqual([
      ['2025-03-13', 'confirmed'],
      ['2025-03-14', 'rejected'],
    ]);
    expect((await place.outbox())[0]?.message).toBeNull();
  });
});

describe('two files with one plan', () => {
  it('are read by age, whatever their names: the newer content is sent', async () => {
    const place = await makePushPlace();
    const at = Date.now() / 1_000;
    place.drop('route_plans', 'plans-9.json', [plan('P1', day('2025-03-13'))]);
    place.drop('route_plans', 'plans-10.json', [plan('P1', day('2025-03-14'))]);
    utimesSync(path(place, 'plans-9.json'), at - 60, at - 60);
    utimesSync(path(place, 'plans-10.json'), at - 30, at - 30);
    await place.run(JOB);
    expect((await place.outbox()).map(({ period_start }) => period_start?.slice(0, 10))).toEqual(['2025-03-14']);
  });

  it('of one age are read in the order of the numbers in their names', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'plans-9.json', [plan('P1', day('2025-03-13'))]);
    place.drop('route_plans', 'plans-10.json', [plan('P1', day('2025-03-14'))]);
    for (const name of ['plans-9.json', 'plans-10.json']) utimesSync(path(place, name), 1_700_000_000, 1_700_000_000);
    await place.run(JOB);
    expect((await place.outbox()).map(({ period_start }) => period_start?.slice(0, 10))).toEqual(['2025-03-14']);
  });
});

it('an agent whose waiting file is replaced is reported by its code, and the code is dropped with the result', async () => {
  const place = await makePushPlace();
  place.dependencies.concurrency = 1;
  const [known = '', unknown = ''] = CPFS;
  place.drop('agents', 'a.json', [agent(known, { external_code: known }), agent(unknown, { external_code: unknown })]);
  place.sandbox.addFault({ call: 'create-agent', fault: '500', skip: 1, times: 1 });
  await place.run('push-agents');
  const codes = async () =>
    (await place.engine.read((sql) => sql('push_outbox').where({ kind: 'agents' }))).map(({ erp_code }) => erp_code);
  expect((await codes()).toSorted()).toEqual([known, unknown].toSorted());
  place.drop('agents', 'a.json', [agent(unknown, { external_code: unknown })]);
  for (let run = 0; run < 5; run++) {
    await place.run('push-agents');
    await place.clock.advance(HOUR);
  }
  const late = readFileSync(join(place.folder('agents'), 'late-results.jsonl'), 'utf8');
  expect(late).toContain(`"external_code":"${known}"`);
  expect(await codes()).toEqual([null, null]);
});

it('a file that the warehouse cannot close holds up no other, and all have ended when the run has', async () => {
  const place = await makePushPlace();
  const names = Array.from({ length: 12 }, (_, n) => `f${String(n).padStart(2, '0')}.json`);
  for (const name of names) place.drop('route_plans', name, plan(`P-${name}`));
  await place.engine.write(({ sql }) =>
    sql.raw(`create trigger rejecting before delete on sync_state when old.name like '%f00.json'
      begin select raise(abort, 'rejected'); end`),
  );
  expect((await place.run(JOB)).status).toBe('partial');
  expect(namesIn(place, 'done').filter((name) => !name.endsWith('.result.json'))).toEqual(names);
  await place.engine.write(({ sql }) => sql.raw('drop trigger rejecting'));
  expect((await place.run(JOB)).status).toBe('ok');
  expect(await marks(place)).toEqual([]);
  expect(namesIn(place, 'done')).toHaveLength(2 * names.length);
});

it('a file whose reader is killed fails alone: the other files are taken, and the next run reads it', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'b.json', plan('B'));
  // Large enough for a reader process, and the older of the two.
  writeFileSync(path(place, 'a.json'), JSON.stringify(plan('A')).padStart(2 * 1024 * 1024));
  utimesSync(path(place, 'a.json'), 1_000_000, 1_000_000);
  let isDone = false;
  const running = place.run(JOB).finally(() => {
    isDone = true;
  });
  const before = children();
  let reader: number | undefined;
  while (!isDone && reader === undefined) {
    await new Promise((turn) => setImmediate(turn));
    reader = children().find((pid) => !before.includes(pid));
  }
  process.kill(reader as number, 'SIGKILL');
  expect(await running).toMatchObject({
    status: 'partial',
    error: { code: 'erp_unavailable', message: expect.stringContaining('a.json') },
  });
  expect(place.sandbox.ledger().plans).toEqual({ B: 1 });
  expect(namesIn(place, 'done')).toEqual(['b.json', 'b.json.result.json']);
  expect(await place.run(JOB)).toMatchObject({ status: 'ok' });
  expect(place.sandbox.ledger().plans).toEqual({ A: 1, B: 1 });
});

it('a file that fails in a way that nobody expected fails alone: the other files are taken', async () => {
  const place = await makePushPlace();
  const feed = await place.dependencies.erp('route_plans');
  if (feed === undefined) throw new Error('there is no feed');
  const { read } = feed.source;
  // No JSON text has such a value, so nothing checks for it.
  const unexpected = 1n as unknown as number;
  feed.source.read = async function* (...given) {
    for await (const batch of read(...given)) {
      for (const { externalCode, data } of batch.items) if (externalCode === 'A') data.notes = unexpected;
      yield batch;
    }
  };
  place.drop('route_plans', 'a.json', plan('A'));
  utimesSync(path(place, 'a.json'), 1_000_000, 1_000_000);
  place.drop('route_plans', 'b.json', plan('B'));
  expect(await place.run(JOB)).toMatchObject({
    status: 'partial',
    error: { message: 'Unexpected failure (TypeError)' },
  });
  expect(place.sandbox.ledger().plans).toEqual({ B: 1 });
  expect([namesIn(place), namesIn(place, 'done')]).toEqual([['a.json'], ['b.json', 'b.json.result.json']]);
});

/** The processes that this one has started. */
const children = (): number[] =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

it('a file with too long a name is one issue, however often it is read', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', `${'a'.repeat(200)}.json`, plan('P1'));
  const since = place.now();
  for (const _ of [1, 2]) {
    expect((await place.run(JOB)).error).toMatchObject({ code: 'items_rejected' });
    expect(await pushIssues(place.engine, place.clock.now())).toMatchObject([{ reason: 'unreadable', newest: since }]);
    await place.clock.advance(HOUR);
  }
});

it.each([
  ['cannot be read', { 'plan.external_code': 'P1', 'point.name': 'A', 'point.order': '1.5' }],
  ['is invalid', plan('P1', { date_time_start: 'soon' })],
])('an item that %s is an issue until it is corrected, and a newer one with each file that has it', async (_, item) => {
  const place = await makePushPlace();
  const issues = () => pushIssues(place.engine, place.clock.now());
  for (const name of ['a', 'b']) {
    place.drop('route_plans', `${name}.json`, [item]);
    await place.run(JOB);
    expect(await issues()).toMatchObject([{ reason: 'rejected', entries: 1, newest: place.now() }]);
    expect(await place.entry('P1')).toMatchObject({ origin: `${name}.json record 1` });
    await place.clock.advance(25 * HOUR);
    await place.run(JOB);
    expect(await issues()).toMatchObject([{ reason: 'rejected', entries: 1 }]);
  }
  place.drop('route_plans', 'c.json', plan('P1'));
  await place.run(JOB);
  expect(await issues()).toEqual([]);
});
