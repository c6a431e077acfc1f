// kill -9 in the middle of a load: what is in the warehouse is all of a slice or none of it, and a later run
// ends where a run that was never killed ends.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace, type Workplace } from '../support/workplace.ts';

const VEHICLES = 20_000;
const CONTENT = `select * from (select id, plate, title, driver_name, extra, _missing_since from vehicle) order by id`;

let sandbox: Sandbox;
let untouched: Workplace;

beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: VEHICLES, churn: false });
  untouched = makeWorkplace(configFor(sandbox.url));
  expect((await untouched.run(['run', 'pull-vehicles'])).code).toBe(0);
});
afterAll(async () => {
  untouched.remove();
  await sandbox.close();
});

describe('a process killed in the middle of a load', () => {
  it.each(['the records are read', 'the run is opened'])('when %s leaves nothing half done', async (when) => {
    const place = makeWorkplace(configFor(sandbox.url));
    const process = place.start(['run', 'pull-vehicles', '--log-level', 'debug']);
    await process.printed(when === 'the records are read' ? /"slice read"/ : /"run opened"/);
    process.kill('SIGKILL');
    expect((await process.ended).signal).toBe('SIGKILL');

    const [{ rows, coverage } = {}] = await place.query(
      'select (select count(*) from vehicle) as rows, (select count(*) from sync_coverage) as coverage',
    );
    expect([`${rows} ${coverage}`]).toEqual(expect.arrayContaining([rows === 0 ? '0 0' : `${VEHICLES} 1`]));
    expect(await place.query('select status from sync_run')).toEqual([{ status: 'running' }]);

    expect((await place.run(['run', 'pull-vehicles'])).code).toBe(0);
    expect(await place.query(CONTENT)).toEqual(await untouched.query(CONTENT));
    expect(await place.query('select status from sync_run order by started_at')).toEqual([
      { status: 'abandoned' },
      { status: 'ok' },
    ]);
    place.remove();
  });
});
