// One suite for every ERP source: the same rows give the same items, and an engine that is interrupted at any step
// and started again sends each item once and notifies the ERP of each.
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { contentHash } from '../../../src/erp/items/canonical-form.ts';
import { validateItem } from '../../../src/erp/items/schemas.ts';
import type { ErpBatch, ErpItem, FileItem, ItemOutcome } from '../../../src/erp/source.ts';
import { hasMariadb } from '../../support/databases/mariadb.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import {
  type Bench,
  drain,
  filesBench,
  finishTaken,
  httpBench,
  PLAN_START,
  type Row,
  remember,
  stopOutcome,
  type Taken,
} from '../../support/erp/erp-benches.ts';
import { mariadbBench, postgresBench, sqliteBench } from '../../support/erp/erp-sql-benches.ts';

const BENCHES: [string, () => Bench | Promise<Bench>][] = [
  ['files, json', () => filesBench('json')],
  ['files, csv', () => filesBench('csv')],
  ['files, xlsx', () => filesBench('xlsx')],
  ['sql, sqlite3', sqliteBench],
  ['sql, pg', postgresBench],
  ...(hasMariadb ? [['sql, mysql2', mariadbBench] as [string, () => Promise<Bench>]] : []),
  ['http', httpBench],
];

const row = (plan: string, point: string, more: Row = {}): Row => ({
  'plan.external_code': plan,
  'plan.date_time_start': '2026-05-18T08:00',
  'plan.date_time_end': '2026-05-18T18:00:00-03:00',
  'plan.vehicle_plate': 'abc-1234',
  'point.name': point,
  'point.external_code': `${plan}-${point}`,
  'point.type': 'PE',
  'point.latitude': -23.55,
  'point.longitude': -46.63,
  'item.external_code': null,
  'item.quantity': null,
  'options.optimize': false,
  ...more,
});

const ROWS: Row[] = [
  row('P1', 'A', { 'item.external_code': 'i1', 'item.quantity': 1.5 }),
  row('P1', 'A', { 'item.external_code': 'i2', 'item.quantity': 2 }),
  row('P1', 'B'),
  row('P2', 'C', { 'point.type': 'coleta' }),
];

const point = (code: string, type = 'Entrega') => ({
  name: code.slice(3),
  external_code: code,
  type,
  latitude: -23.55,
  longitude: -46.63,
});

const plan = (code: string, route_points: object[]) => ({
  externalCode: code,
  startDay: '2026-05-18',
  options: { optimize: false },
  data: {
    external_code: code,
    date_time_start: '2026-05-18T08:00:00-03:00',
    date_time_end: '2026-05-18T18:00:00-03:00',
    vehicle_plate: 'ABC1234',
    route_points,
  },
});

const ITEMS = [
  plan('P1', [
    {
      ...point('P1-A'),
      route_point_items: [
        { external_code: 'i1', quantity: 1.5 },
        { external_code: 'i2', quantity: 2 },
      ],
    },
    point('P1-B'),
  ]),
  plan('P2', [point('P2-C', 'Coleta')]),
];

const itemsOf = (batches: readonly ErpBatch[]): ErpItem[] => batches.flatMap(({ items }) => items);
const confirmed = (externalCode: string, remoteId = 7): ItemOutcome => ({
  externalCode,
  periodStart: PLAN_START,
  state: 'confirmed',
  remoteId,
  message: null,
});

let bench: Bench | undefined;
afterEach(async () => {
  await bench?.close();
  bench = undefined;
});

afterAll(stopPostgres);

async function benchOf(make: () => Bench | Promise<Bench>, rows: readonly Row[] = ROWS): Promise<Bench> {
  bench = await make();
  await bench.offer(rows);
  return bench;
}

describe.each(BENCHES)('%s', (name, make) => {
  test('gives the same items for the same rows', async () => {
    const erp = await benchOf(make);
    const source = erp.open();
    const batches = await drain(source, erp.clock);
    expect(batches.flatMap(({ readErrors }) => readErrors)).toEqual([]);
    expect(batches.at(-1)?.last).toBe(true);
    const items = itemsOf(batches);
    expect(items.map(({ origin, rows: _, ...rest }) => rest)).toEqual(ITEMS);
    expect(items.flatMap((item) => validateItem('route_plans', item))).toEqual([]);
    expect(items.every(({ origin }) => /\d/.test(origin))).toBe(true);
    await source.close();
  });

  test('notifies the ERP of final states, and twice is the same as once', async () => {
    const erp = await benchOf(make);
    const source = erp.open();
    const taken: Taken = new Map();
    await drain(source, erp.clock, (batch) => remember(taken, batch, erp.clock));
    const outcomes: ItemOutcome[] = [
      { ...confirmed('P1'), isPartial: true, reasons: ['route_points[1] was rejected'] },
      { ...confirmed('P2'), state: 'rejected', remoteId: null, message: 'rejected', reasons: ['a', 'b'] },
    ];
    for (let times = 0; times < 2; times++) {
      await source.acknowledge(outcomes);
      await finishTaken(source, new Map(taken), ({ externalCode }) =>
        outcomes.find((outcome) => outcome.externalCode === externalCode),
      );
    }
    expect(await erp.notified()).toEqual({
      P1: { state: 'partial', remoteId: 7, periodStart: PLAN_START },
      P2: { state: 'rejected', remoteId: null, periodStart: PLAN_START },
    });
    expect(itemsOf(await drain(source, erp.clock))).toEqual([]);
    await source.close();
  });

  test('returns the outcomes of stops, the latest for each', async () => {
    const erp = await benchOf(make);
    const source = erp.open();
    const first = [stopOutcome('P1', 'A', 'P'), stopOutcome('P1', 'B', 'P'), stopOutcome('P2', 'C', 'P')];
    await source.returnExecutions?.(first);
    await source.returnExecutions?.([stopOutcome('P1', 'B', 'D')]);
    await source.returnExecutions?.([stopOutcome('P1', 'B', 'D')]);
    expect(await erp.returned()).toEqual({
      'P1 A': `P ${PLAN_START}`,
      'P1 B': `D ${PLAN_START}`,
      'P2 C': `P ${PLAN_START}`,
    });
    await source.close();
  });

  // A process reads each workbook, which takes long; the steps of an engine are the same as for other files.
  test.runIf(!name.endsWith('xlsx'))(
    'an engine interrupted at any step and started again sends each item once and notifies the ERP of each',
    async () => {
      let isWhole = false;
      for (let cutAt = 0; !isWhole; cutAt++) {
        const erp = await benchOf(make);
        const outbox: Outbox = { entries: new Map(), taken: new Map() };
        isWhole = await engineRun(erp, outbox, cutAt);
        if (!isWhole) await engineRun(erp, outbox, Number.POSITIVE_INFINITY);
        expect(
          [...outbox.entries.values()].map(({ sent }) => sent),
          `cut at step ${cutAt}`,
        ).toEqual([1, 1]);
        expect(await erp.notified(), `cut at step ${cutAt}`).toEqual({
          P1: { state: 'confirmed', remoteId: 7, periodStart: PLAN_START },
          P2: { state: 'confirmed', remoteId: 7, periodStart: PLAN_START },
        });
        await erp.close();
      }
    },
  );

  test('a plan whose rows are not together is a read error, and no half of it is an item', async () => {
    const erp = await benchOf(make, [row('P1', 'A'), row('P2', 'C'), row('P1', 'B')]);
    const source = erp.open();
    const batches = await drain(source, erp.clock);
    expect(itemsOf(batches).map(({ externalCode }) => externalCode)).toEqual(['P2']);
    const [readError, ...others] = batches.flatMap(({ readErrors }) => readErrors);
    expect(others).toEqual([]);
    expect(readError).toMatchObject({ externalCode: 'P1' });
    expect(readError?.reason).toContain('keep the rows of a plan together');
    await source.close();
  });

  test('a plan that cannot be read in one place is not taken from another', async () => {
    const erp = await benchOf(make, [
      row('P1', 'A', { 'point.order': 'first' }),
      row('P2', 'C', { 'point.order': 1 }),
      row('P1', 'B', { 'point.order': 2 }),
    ]);
    const source = erp.open();
    expect(itemsOf(await drain(source, erp.clock)).map(({ externalCode }) => externalCode)).toEqual(['P2']);
    await source.close();
  });

  test('a plan that cannot be read does not affect the others', async () => {
    const erp = await benchOf(make, [row('P1', 'A', { 'point.order': 'first' }), row('P2', 'C', { 'point.order': 1 })]);
    const source = erp.open();
    const batches = await drain(source, erp.clock);
    expect(itemsOf(batches).map(({ externalCode }) => externalCode)).toEqual(['P2']);
    expect(batches.flatMap(({ readErrors }) => readErrors)).toMatchObject([
      { externalCode: 'P1', reason: 'point.order is not a whole number' },
    ]);
    await source.close();
  });

  describe('a code that is used again on another day', () => {
    const day = (date: string): Row => ({
      'plan.date_time_start': `${date}T08:00`,
      'plan.date_time_end': `${date}T18:00:00-03:00`,
    });
    const rows = [
      row('R7', 'A', day('2026-05-18')),
      row('R7', 'B', day('2026-05-18')),
      row('R7', 'C', day('2026-05-19')),
      row('R8', 'D', day('2026-05-19')),
    ];
    const itemsIn = (batches: readonly ErpBatch[]) =>
      itemsOf(batches).map(({ externalCode, startDay, data }) => [
        externalCode,
        startDay,
        (data.route_points as unknown[]).length,
      ]);

    test('is a read error, and no half of it is an item', async () => {
      const erp = await benchOf(make, rows);
      const source = erp.open();
      const batches = await drain(source, erp.clock);
      expect(itemsIn(batches)).toEqual([['R8', '2026-05-19', 1]]);
      const readErrors = batches.flatMap((batch) => batch.readErrors);
      expect(readErrors).not.toEqual([]);
      expect(new Set(readErrors.map(({ externalCode }) => externalCode))).toEqual(new Set(['R7']));
      await source.close();
    });

    test('is another item where codes are reused', async () => {
      const erp = await benchOf(make, rows);
      const source = erp.open({ reuseCodes: true });
      const batches = await drain(source, erp.clock);
      expect(batches.flatMap(({ readErrors }) => readErrors)).toEqual([]);
      expect(itemsIn(batches)).toEqual([
        ['R7', '2026-05-18', 2],
        ['R7', '2026-05-19', 1],
        ['R8', '2026-05-19', 1],
      ]);
      await source.close();
    });
  });

  test('more than a batch comes in several parts, completely', async () => {
    const rows = Array.from({ length: 1_200 }, (_, i) => row(`P${i}`, 'A'));
    const erp = await benchOf(make, rows);
    const source = erp.open();
    const batches = await drain(source, erp.clock);
    expect(batches.map(({ part, last, items }) => [part, last, items.length])).toEqual([
      [1, false, 500],
      [2, false, 500],
      [3, true, 200],
    ]);
    expect(new Set(itemsOf(batches).map(contentHash)).size).toBe(1_200);
    await source.close();
  });

  test('check reports what it found, however often it is called', async () => {
    const erp = await benchOf(make);
    const source = erp.open();
    for (let times = 0; times < 6; times++) expect(await source.check()).toMatch(/\.$/);
    await source.close();
    await source.close();
  });
});

interface Outbox {
  entries: Map<string, { hash: string; sent: number; acknowledged: boolean }>;
  taken: Taken;
}

class Cut extends Error {}

/** A minimal engine: a durable outbox, and a step counter that interrupts it. True where it got through. */
async function engineRun(erp: Bench, { entries, taken }: Outbox, cutAt: number): Promise<boolean> {
  let steps = 0;
  const step = () => {
    if (steps++ === cutAt) throw new Cut();
  };
  const source = erp.open();
  try {
    const take = (batch: ErpBatch): void => {
      step();
      for (const item of batch.items) {
        const hash = contentHash(item);
        if (entries.get(item.externalCode)?.hash === hash) continue;
        entries.set(item.externalCode, { hash, sent: 0, acknowledged: false });
        step();
      }
      remember(taken, batch, erp.clock);
      step();
    };
    await drain(source, erp.clock, take, taken);
    for (const [code, entry] of entries) {
      step();
      if (entry.sent === 0) entry.sent += 1;
      step();
      if (entry.acknowledged) continue;
      await source.acknowledge([confirmed(code)]);
      step();
      entry.acknowledged = true;
    }
    const outcomeOf = ({ externalCode }: FileItem) =>
      entries.get(externalCode)?.acknowledged ? confirmed(externalCode) : undefined;
    await finishTaken(source, taken, outcomeOf, step);
    return true;
  } catch (error) {
    if (error instanceof Cut) return false;
    throw error;
  } finally {
    await source.close();
  }
}
