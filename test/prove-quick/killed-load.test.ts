// kill -9 in the middle of a load: the warehouse holds all of a slice or none of it, and a later run
// ends in the same state as a run that was never killed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { stopPostgres } from '../support/databases/postgres.ts';
import { configFor, makeWorkplace, type Workplace } from '../support/process/workplace.ts';
import { type EngineCase, engineCases } from '../support/warehouse/engines.ts';

const VEHICLES = 1_000;
const CONTENT = `select id, plate, title, driver_name, extra, _missing_since from vehicle order by id`;

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: VEHICLES, churn: false });
});
afterAll(async () => {
  await sandbox.close();
  await stopPostgres();
});

async function placeOn({ make }: EngineCase): Promise<Workplace> {
  const warehouse = await make();
  return makeWorkplace(configFor(sandbox.url, `warehouse: ${JSON.stringify(warehouse.settings)}\n`), warehouse);
}

describe.each(engineCases)('a process killed in the middle of a load into $name', (engine) => {
  it.each(['the records are read', 'the run is opened'])(
    'when %s leaves nothing half done',
    { timeout: 180_000 },
    async (when) => {
      const place = await placeOn(engine);
      const process = place.start(['run', 'pull-vehicles', '--log-level', 'debug']);
      await process.printed(when === 'the records are read' ? /"slice read"/ : /"run started"/);
      process.kill('SIGKILL');
      expect((await process.ended).signal).toBe('SIGKILL');

      const [{ loaded, coverage } = {}] = await place.query(
        'select (select count(*) from vehicle) as loaded, (select count(*) from sync_coverage) as coverage',
      );
      expect([`${loaded} ${coverage}`]).toEqual(expect.arrayContaining([loaded === 0 ? '0 0' : `${VEHICLES} 1`]));
      expect(await place.query('select status from sync_run')).toEqual([{ status: 'running' }]);

      expect((await place.run(['run', 'pull-vehicles'])).code).toBe(0);
      const truth = (await (await fetch(`${sandbox.url}/_sandbox/truth/vehicles`)).json()) as {
        id: number;
      }[];
      const content = await place.query<{ id: number; _missing_since: unknown }>(CONTENT);
      expect(content.map(({ id }) => id)).toEqual(truth.map(({ id }) => id).sort((a, b) => a - b));
      expect(content.every(({ _missing_since }) => _missing_since === null)).toBe(true);
      expect(await place.query('select status from sync_run order by started_at')).toEqual([
        { status: 'abandoned' },
        { status: 'ok' },
      ]);
      const again = JSON.parse((await place.run(['run', 'pull-vehicles', '--json'])).stdout);
      expect(again).toMatchObject({ inserted: 0, updated: 0, unchanged: VEHICLES });
      place.remove();
    },
  );
});
