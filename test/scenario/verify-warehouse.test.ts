// What a verification finds beside rows that differ, on every engine: records that do not fit their table.
import { describe, expect, it } from 'vitest';
import { engineCases } from '../support/engines.ts';
import { verify, wrong } from '../support/verified.ts';
import { addRecords, expectBalance, openRig, removeRecords } from './pull-setup.ts';

const NOW = '2026-03-31T15:00:00.000Z';

describe.each(engineCases)('a verification on $name', ({ name: engine }) => {
  it('is partial if a record no longer fits its table, and with repair the quarantine has it', async () => {
    const rig = await openRig(NOW, { vehicles: 1, churn: false }, { engine });
    await addRecords(rig, 'vehicles', [{ id: 7, year: 2024 }]);
    await rig.run('pull-vehicles');
    await removeRecords(rig);
    await addRecords(rig, 'vehicles', [{ id: 7, year: 'last' }]);
    const kept = () => rig.rows('select table_name, record_key from sync_quarantine');

    const found = await verify(rig, { tables: ['vehicle'] });
    expect(found.run).toMatchObject({ status: 'partial', error: null, records: 2, unchanged: 1, quarantined: 1 });
    expect(wrong(found.rows)).toEqual([]);
    expect(await kept()).toEqual([]);

    const repaired = await verify(rig, { tables: ['vehicle'], repair: true });
    expect(repaired.run).toMatchObject({ status: 'partial', quarantined: 1 });
    expectBalance(repaired.run);
    expect(await kept()).toEqual([{ table_name: 'vehicle', record_key: '7' }]);
  });
});
