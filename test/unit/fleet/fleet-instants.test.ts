import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toDay, toInstant } from '../../../src/fleet/instants.ts';

describe('instants', () => {
  it.each([
    ['2025-03-12T10:00:00Z', '2025-03-12T10:00:00.000Z'],
    ['2025-03-12T10:00:00.5Z', '2025-03-12T10:00:00.500Z'],
    ['2025-03-12T10:00:00.123Z', '2025-03-12T10:00:00.123Z'],
    ['2025-03-12T10:00:00.123456Z', '2025-03-12T10:00:00.123456Z'],
    ['2025-03-12T10:00:00.123456-03:00', '2025-03-12T13:00:00.123456Z'],
    ['2025-03-12T22:30:00-03:00', '2025-03-13T01:30:00.000Z'],
    ['2025-03-12T01:30:00+05:30', '2025-03-11T20:00:00.000Z'],
    ['2025-03-12t10:00:00z', '2025-03-12T10:00:00.000Z'],
    ['2025-03-12 10:00:00-0300', '2025-03-12T13:00:00.000Z'],
    ['2025-03-12T10:00-03', '2025-03-12T13:00:00.000Z'],
    ['2025-03-12T10:00:00,25Z', '2025-03-12T10:00:00.250Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('%s is %s', (text, instant) => {
    expect(toInstant(text)).toBe(instant);
  });

  it.each([
    '2025-03-12T10:00:00',
    '2025-03-12',
    '2025-02-29T00:00:00Z',
    '2025-13-01T00:00:00Z',
    '2025-00-10T00:00:00Z',
    '2025-03-00T00:00:00Z',
    '2025-03-12T24:00:00Z',
    '2025-03-12T10:60:00Z',
    '2025-03-12T10:00:61Z',
    '2025-03-12T10:00:00+24:00',
    '9999-12-31T23:59:59-03:00',
    '0000-01-01T00:00:00+03:00',
    '12/03/2025 10:00',
    '',
  ])('%s is rejected', (text) => {
    expect(toInstant(text)).toBeUndefined();
  });

  it('equals the instant that Date reads, and is its own normal form', () => {
    const offset = fc.integer({ min: -23 * 60, max: 23 * 60 });
    const instant = fc.date({
      min: new Date('1970-01-02'),
      max: new Date('9998-01-01'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instant, offset, (at, minutes) => {
        const local = new Date(at.getTime() + minutes * 60_000).toISOString().slice(0, -1);
        const size = Math.abs(minutes);
        const zone = `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
        expect(toInstant(local + zone)).toBe(at.toISOString());
        expect(toInstant(at.toISOString())).toBe(at.toISOString());
      }),
    );
  });

  it('a day is a date, or the date of a date-time', () => {
    expect(toDay('2024-02-29')).toBe('2024-02-29');
    expect(toDay('2025-03-12T23:00:00-03:00')).toBe('2025-03-12');
    expect(toDay('2025-02-29')).toBeUndefined();
    expect(toDay('2025-03-12x')).toBeUndefined();
  });
});

const pad = (value: number): string => String(value).padStart(2, '0');
