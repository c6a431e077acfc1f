// The real command against the sandbox over HTTP, into a real database; the sandbox's ledger is the truth.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace, type Workplace } from '../support/workplace.ts';

let sandbox: Sandbox;
let place: Workplace;

beforeEach(async () => {
  sandbox = await startSandbox({ vehicles: 40, churn: false });
  place = makeWorkplace(configFor(sandbox.url));
});
afterEach(async () => {
  place.remove();
  await sandbox.close();
});

const admin = (path: string, body: unknown): Promise<Response> =>
  fetch(`${sandbox.url}/_sandbox/${path}`, { method: 'POST', body: JSON.stringify(body) });
const runJson = async (...more: string[]) => {
  const ended = await place.run(['run', 'pull-vehicles', '--json', ...more]);
  return { ...ended, summary: JSON.parse(ended.stdout) };
};

interface Listed {
  id: number;
  plate: string;
}

async function vehiclesInTruth(): Promise<Listed[]> {
  const truth = (await (await fetch(`${sandbox.url}/_sandbox/truth/vehicles`)).json()) as
    | Listed[]
    | { data: Listed[] };
  const list = Array.isArray(truth) ? truth : truth.data;
  return list.map(({ id, plate }) => ({ id, plate })).sort((a, b) => a.id - b.id);
}

describe('run pull-vehicles', () => {
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

  it('marks a vehicle that is no longer listed, and unmarks it when it returns', async () => {
    await admin('records', { call: 'vehicles', records: [{ id: 7, plate: 'GHO5T00' }] });
    await runJson();
    await fetch(`${sandbox.url}/_sandbox/records`, { method: 'DELETE' });
    expect((await runJson()).summary).toMatchObject({ unchanged: 40, updated: 0 });
    const missing = 'select id from vehicle where _missing_since is not null';
    expect(await place.query(missing)).toEqual([{ id: 7 }]);
    await admin('records', { call: 'vehicles', records: [{ id: 7, plate: 'GHO5T00' }] });
    expect((await runJson()).summary).toMatchObject({ unchanged: 40, updated: 1 });
    expect(await place.query(missing)).toEqual([]);
  });

  it('does not call a listed vehicle missing because its record does not fit', async () => {
    await admin('records', { call: 'vehicles', records: [{ id: 7, plate: 'GHO5T00' }] });
    await runJson();
    await fetch(`${sandbox.url}/_sandbox/records`, { method: 'DELETE' });
    await admin('records', { call: 'vehicles', records: [{ id: 7, plate: 'GHO5T00', year: 'last' }] });
    await runJson();
    expect(await place.query('select id from vehicle where _missing_since is not null')).toEqual([]);
  });

  // Together, because each waits out its retries.
  it('tells a bad answer in plain words, by the right exit code, and loads nothing', async () => {
    const cases = [
      { fault: 'html', words: /HTML/, exit: 1 },
      { fault: 'truncated', words: /connection was lost/, exit: 75 },
      { fault: 'empty', words: /GET \/vehicle\/ failed/, exit: 1 },
      { fault: '503', words: /answered 503/, exit: 75 },
      { fault: '403', words: /answered 403/, exit: 1 },
    ] as const;
    await Promise.all(
      cases.map(async ({ fault, words, exit }) => {
        const broken = await startSandbox({ faults: [{ call: 'vehicles', fault }] });
        const own = makeWorkplace(configFor(broken.url));
        const { code, stdout, stderr } = await own.run(['run', 'pull-vehicles', '--json']);
        const { status, error } = JSON.parse(stdout);
        expect(status, fault).toBe('failed');
        expect(error.message).toMatch(words);
        expect(error.hint, fault).toBeTruthy();
        expect(stderr).toBe('');
        expect(code, fault).toBe(exit);
        expect(await own.query('select * from vehicle')).toEqual([]);
        expect(await own.query('select * from sync_coverage')).toEqual([]);
        own.remove();
        await broken.close();
      }),
    );
  });

  it('refuses a body over the cap without reading it all', async () => {
    place.remove();
    place = makeWorkplace(configFor(sandbox.url, '  max_body_mb: 1\n'));
    sandbox.addFault({ call: 'vehicles', fault: 'huge', bytes: 50_000_000 });
    const { code, summary } = await runJson();
    expect(code).toBe(1);
    expect(summary.error.code).toBe('body_too_large');
  });

  it('exits 4 after exactly one login when the password is wrong', async () => {
    const { code, stdout } = await place.run(['run', 'pull-vehicles', '--json'], {
      ROADBOOK_PASSWORD: 'not-the-one',
    });
    expect(code).toBe(4);
    expect(JSON.parse(stdout).error.code).toBe('login_refused');
    expect(sandbox.ledger()).toMatchObject({ logins_refused: 1 });
  });

  it('sends no fourth login for refused credentials, from one process to the next', async () => {
    for (let times = 0; times < 4; times++) {
      expect((await place.run(['run', 'pull-vehicles'], { ROADBOOK_PASSWORD: 'not-the-one' })).code).toBe(4);
    }
    expect(sandbox.ledger()).toMatchObject({ logins_refused: 3 });
    expect((await runJson()).code).toBe(0);
  });

  it('exits 75 when the service is not there', async () => {
    const port = new URL(sandbox.url).port;
    await sandbox.close();
    const { code, summary } = await runJson();
    expect(code).toBe(75);
    expect(summary.error).toMatchObject({ code: 'service_unreachable' });
    expect(summary.error.message).not.toContain(port);
  });
});
