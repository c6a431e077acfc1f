// The real command against the sandbox over HTTP, into a real database; the sandbox's ledger is the truth.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace, type Workplace } from '../../support/process/workplace.ts';
import { addRecords, openRig, putBefore, removeRecords } from '../../support/pull/pull-setup.ts';
import { makeRig, type Rig } from '../../support/pull/rig.ts';

let sandbox: Sandbox;
let place: Workplace;

const admin = (path: string, body: unknown): Promise<Response> =>
  fetch(`${sandbox.url}/_sandbox/${path}`, { method: 'POST', body: JSON.stringify(body) });
const runJson = async (...more: string[]) => {
  const ended = await place.runHere(['run', 'pull-vehicles', '--json', ...more]);
  return { ...ended, summary: JSON.parse(ended.stdout) };
};

interface Listed {
  id: number;
  plate: string;
}

async function vehiclesInTruth(): Promise<Listed[]> {
  const truth = (await (await fetch(`${sandbox.url}/_sandbox/truth/vehicles`)).json()) as Listed[] | { data: Listed[] };
  const list = Array.isArray(truth) ? truth : truth.data;
  return list.map(({ id, plate }) => ({ id, plate })).sort((a, b) => a.id - b.id);
}

it('a listing of more than 500,000 records fails and stores nothing', async () => {
  const rig = await openRig('2026-03-10T15:00:00.000Z', { vehicles: 1, churn: false });
  const many = Array.from({ length: 500_001 }, (_, id) => ({ id }));
  await putBefore(rig, ({ pathname }) => (pathname === '/vehicle/' ? { body: many } : undefined));
  expect(await rig.run('pull-vehicles')).toMatchObject({ status: 'failed', error: { code: 'slice_too_large' } });
  expect(await rig.rows('select count(*) as n from vehicle')).toEqual([{ n: 0 }]);
});

describe('run pull-vehicles', () => {
  beforeEach(async () => {
    sandbox = await startSandbox({ vehicles: 40, churn: false });
    place = makeWorkplace(configFor(sandbox.url));
  });
  afterEach(async () => {
    place.remove();
    await sandbox.close();
  });

  it('loads every vehicle as the service has it with one login and one call; a second time changes nothing', async () => {
    const first = await runJson();
    expect(first.code).toBe(0);
    expect(first.stderr).toBe('');
    expect(first.summary).toMatchObject({
      status: 'ok',
      records: 40,
      inserted: 40,
      updated: 0,
      unchanged: 0,
      error: null,
    });
    expect(sandbox.ledger()).toMatchObject({ logins: 1, requests: { vehicles: 1 } });
    expect(first.summary.requests).toBe(2);
    expect(await place.query('select id, plate from vehicle order by id')).toEqual(await vehiclesInTruth());
    const before = await place.query('select * from vehicle order by id');
    const second = await runJson();
    expect(second.summary).toMatchObject({
      status: 'ok',
      records: 40,
      inserted: 0,
      updated: 0,
      unchanged: 40,
    });
    expect(await place.query('select * from vehicle order by id')).toEqual(before);
  });

  it('quarantines a vehicle without id, loads the others and exits 5', async () => {
    await admin('records', { call: 'vehicles', records: [{ plate: 'ABC1234', note: 'kept whole' }] });
    const { code, summary } = await runJson();
    expect(code).toBe(5);
    expect(summary).toMatchObject({ status: 'partial', records: 41, inserted: 40, quarantined: 1 });
    const [row] = await place.query('select table_name, reason, payload, times from sync_quarantine');
    expect(row).toMatchObject({ table_name: 'vehicle', times: 1 });
    expect(row?.reason).toMatch(/^id: /);
    expect(JSON.parse(String(row?.payload))).toEqual({ plate: 'ABC1234', note: 'kept whole' });
    await runJson();
    expect(await place.query('select times from sync_quarantine')).toEqual([{ times: 2 }]);
  });

  it('exits 4 after one login when the password is wrong, and attempts no fourth login across processes', async () => {
    const wrong = { ROADBOOK_PASSWORD: 'not-the-one' };
    const { code, stdout } = await place.runHere(['run', 'pull-vehicles', '--json'], wrong);
    expect(code).toBe(4);
    expect(JSON.parse(stdout).error.code).toBe('login_refused');
    expect(sandbox.ledger()).toMatchObject({ logins_rejected: 1 });
    for (let times = 1; times < 4; times++) {
      expect((await place.runHere(['run', 'pull-vehicles'], wrong)).code).toBe(4);
    }
    expect(sandbox.ledger()).toMatchObject({ logins_rejected: 3 });
    expect((await runJson()).code).toBe(0);
  });
});

describe('a vehicle that was listed', () => {
  const GHOST = { id: 7, plate: 'GHO5T00' };
  const MISSING = 'select id from vehicle where _missing_since is not null';
  let rig: Rig;
  beforeEach(async () => {
    rig = await makeRig({ startAt: '2026-03-10T18:00:00.000Z', sandbox: { vehicles: 40, churn: false } });
  });
  afterEach(() => rig.close());
  const listAlso = (record: object) => addRecords(rig, 'vehicles', [record]);
  const listNoMore = () => removeRecords(rig);

  it('is marked when it is no longer listed, and unmarked when it returns', async () => {
    await listAlso(GHOST);
    await rig.run('pull-vehicles');
    await listNoMore();
    expect(await rig.run('pull-vehicles')).toMatchObject({ unchanged: 40, updated: 0 });
    expect(await rig.rows(MISSING)).toEqual([{ id: 7 }]);
    await listAlso(GHOST);
    expect(await rig.run('pull-vehicles')).toMatchObject({ unchanged: 40, updated: 1 });
    expect(await rig.rows(MISSING)).toEqual([]);
  });

  it.each<[string, object]>([
    ['because its record does not fit', { year: 'last' }],
    ['while a record is listed whose id cannot be read: it may be that one', { id: 'seven' }],
  ])('is not marked missing %s', async (_why, change) => {
    await listAlso(GHOST);
    await rig.run('pull-vehicles');
    await listNoMore();
    await listAlso({ ...GHOST, ...change });
    expect(await rig.run('pull-vehicles')).toMatchObject({ unchanged: 40, quarantined: 1 });
    expect(await rig.rows(MISSING)).toEqual([]);
  });
});
