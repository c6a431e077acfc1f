// The compiled mapping of a record to its row against the wire schema and the generic mapping, on records of every table.
// FUZZ_RECORDS sets the number of records for each table.
import { describe, expect, it } from 'vitest';
import { compileTable } from '../../../src/sync/pull/records/compile-table.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { itinerary } from '../../../src/warehouse/tables/itinerary.ts';
import { wireEvent } from '../../bench/pull/wire-event.ts';
import { compareWays, recordForms } from '../../support/fuzz/compiled-tables.ts';

const RECORDS = Number(process.env.FUZZ_RECORDS ?? 2_000);
const forms = (await recordForms()).map((form) => [form.table.name, form] as const);

describe('the compiled mapping of a record', () => {
  it.each(forms)(
    'gives the same row as the wire schema and the generic mapping, or nothing: %s',
    (_name, form) => {
      const { records, compiled } = compareWays(form, RECORDS, 1);
      // Otherwise nothing was compared.
      expect(compiled).toBeGreaterThan(records / 10);
    },
    120_000,
  );

  it('accepts a usual record', () => {
    expect(compileTable(event)(wireEvent(7))).toEqual([
      1,
      7,
      '2026-01-01T00:50:24.000Z',
      '2026-01-01T00:51:54.000Z',
      7,
      1,
      'ABC1000',
      'Model 0',
      8,
      'Driver Number 7',
      'Rua das Flores, 7, São Paulo',
      'Avenida Brasil, 7, Rio de Janeiro',
      null,
    ]);
  });

  const toRow = compileTable(event);
  it.each([
    ['no object', 'text'],
    ['a list', [wireEvent(1)]],
    ['an unknown field', { ...wireEvent(1), speed: 1 }],
    ['an unknown field that is null', { ...wireEvent(1), speed: null }],
    ['an unknown field inside', { ...wireEvent(1), vehicle: { id: 1, color: 'red' } }],
    ['__proto__', JSON.parse('{"id":1,"event_category":1,"__proto__":{}}')],
    ['__proto__ inside', JSON.parse('{"id":1,"event_category":1,"vehicle":{"__proto__":{}}}')],
    ['an integer as text', { ...wireEvent(1), distance: '5' }],
    ['an integer beyond 2^53', { ...wireEvent(1), distance: 2 ** 53 }],
    ['a list in place of an object', { ...wireEvent(1), vehicle: [] }],
    ['an empty date', { ...wireEvent(1), end_date: '' }],
    ['a date-time without a zone', { ...wireEvent(1), end_date: '2026-01-01T00:00:00' }],
    ['a finer fraction than milliseconds', { ...wireEvent(1), end_date: '2026-01-01T00:00:00.123456Z' }],
    ['the year 0', { ...wireEvent(1), end_date: '0000-05-01T00:00:00Z' }],
    ['a NUL', { ...wireEvent(1), location_end: { address: 'a\0b' } }],
    ['half a character', { ...wireEvent(1), location_end: { address: '\ud800' } }],
    ['no key', { ...wireEvent(1), id: null }],
  ])('leaves a record with %s to the generic mapping', (_what, record) => {
    expect(toRow(record)).toBeUndefined();
  });

  it('leaves an object of which only the repeated value is known to the generic mapping', () => {
    const compiled = compileTable(itinerary);
    expect(compiled({ id: 1, vehicle_id: 5, vehicle: { id: 5, plate: 'ABC1D23' } })?.[3]).toBe(5);
    expect(compiled({ id: 1, vehicle: { id: 5, plate: 'ABC1D23' } })?.[3]).toBe(5);
    expect(compiled({ id: 1, vehicle_id: 5, vehicle: { id: 5 } })).toBeUndefined();
    expect(compiled({ id: 1, vehicle_id: 5, vehicle: { id: 6, plate: 'ABC1D23' } })).toBeUndefined();
  });
});
