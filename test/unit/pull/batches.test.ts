// One pass over the rows of a slice collects them for its transaction.
import { describe, expect, it } from 'vitest';
import { createBatches } from '../../../src/sync/pull/records/batch.ts';
import type { FullRefreshRange } from '../../../src/sync/pull/records/types.ts';
import type { Row } from '../../../src/warehouse/engine.ts';
import { encodeRows } from '../../../src/warehouse/engines/sqlite/load.ts';
import { createPrivacy } from '../../../src/warehouse/privacy/privacy.ts';
import { event as eventTable } from '../../../src/warehouse/tables/event.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';

const open = (references: (row: Row) => void = () => undefined) =>
  createBatches({
    engine: { encodeRows: (table, rows) => encodeRows(table, rows, () => null) },
    privacy: createPrivacy({}, 'test'),
    references: (table) => (table === eventTable ? references : undefined),
  });

const event = (id: number, fields: object = {}) => ({
  event_category: 1,
  id,
  begin_date: '2026-01-01T00:00:00Z',
  vehicle: { id: 7 },
  ...fields,
});
const load = (...records: unknown[]) => ({ table: eventTable, records });
const refresh: FullRefreshRange = { table: eventTable, range: { vehicle_id: { in: [7] } } };

describe('the batches of a slice', () => {
  it('are the loads of each table, in order, with the keys and counts that the transaction needs', async () => {
    const named: unknown[] = [];
    const batches = open((row) => named.push(row[5]));
    const each: unknown[] = [];
    const preparing = { fullRefresh: [refresh], each: (row: Row) => each.push(row[1]) };
    const parts = [
      await batches.prepare(load(event(1), event(2, { vehicle: { id: 8 } })), preparing),
      await batches.prepare({ table: vehicle, records: [{ id: 1 }] }),
      await batches.prepare(load(event(3), { id: 'x', event_category: 1 }), preparing),
    ];
    const [events, vehicles] = batches.finish(parts);
    expect(events).toMatchObject({ table: eventTable, rows: 3, superseded: 0, allSeen: false });
    expect(events?.encoded.flatMap((part) => part.rows().map((row) => row[1]))).toEqual([1, 2, 3]);
    expect(events?.invalid).toHaveLength(1);
    expect(events?.seen()).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
    ]);
    expect(events?.keyTexts()).toEqual(['1 1', '1 2', '1 3']);
    expect(events?.inside(refresh)).toBe(2);
    expect(events?.inside({ ...refresh, range: { vehicle_id: { in: [8] } } })).toBe(0);
    expect([named, each]).toEqual([
      [7, 8, 7],
      [1, 2, 3],
    ]);
    expect(vehicles).toMatchObject({ table: vehicle, rows: 1, allSeen: true });
  });

  it('hold an invalid record whatever its key is', async () => {
    const batches = open();
    const hostile = [{ toString: 1 }, [{ toString: 1 }], { valueOf: null }, null].map((id) => ({ ...event(1), id }));
    const [events] = batches.finish([await batches.prepare(load(...hostile))]);
    expect([events?.rows, events?.invalid.length]).toEqual([0, hostile.length]);
  });

  it('hold the last row of a duplicate key, in one load or in several', async () => {
    const batches = open();
    const parts = [
      await batches.prepare(load(event(1), event(1, { distance: 5 }), event(2)), { fullRefresh: [refresh] }),
      await batches.prepare(load(event(2, { vehicle: { id: 8 } }), event(3)), { fullRefresh: [refresh] }),
    ];
    const [events] = batches.finish(parts);
    expect(events).toMatchObject({ rows: 3, superseded: 2, allSeen: true });
    const rows = events?.encoded.flatMap((part) => part.rows());
    expect(rows?.map((row) => [row[1], row[4], row[5]])).toEqual([
      [1, 5, 7],
      [2, null, 8],
      [3, null, 7],
    ]);
    expect(events?.keyTexts()).toEqual(['1 1', '1 2', '1 3']);
    expect(events?.inside(refresh)).toBe(0);
  });

  it('count an unreadable key as one that was not seen, and a readable one as seen', async () => {
    const batches = open();
    const part = await batches.prepare(load({ ...event(1), distance: 'far' }, event(2)));
    expect(batches.finish([part])[0]).toMatchObject({ allSeen: true, rows: 1 });
    expect(batches.finish([part])[0]?.seen()).toEqual([
      [1, 2],
      [1, 1],
    ]);
  });
});
