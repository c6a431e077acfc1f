import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { isClockChangeDay, nextTick, ticksAfter } from '../../../src/schedule/ticks.ts';

const at = (text: string): number => Temporal.Instant.from(text).epochMilliseconds;
const local = (ms: number, zone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDateTime().toString();
const take = (cron: string, timezone: string, from: string, count: number): string[] =>
  [...ticksAfter({ cron, timezone }, at(from)).take(count)].map((ms) => local(ms, timezone));

describe('ticks', () => {
  it('are strictly after the given instant', () => {
    expect(nextTick({ cron: '*/10 * * * *', timezone: 'UTC' }, at('2026-01-01T00:10:00Z'))).toBe(
      at('2026-01-01T00:20:00Z'),
    );
    expect(nextTick({ cron: '*/5 * * * * *', timezone: 'UTC' }, at('2026-01-01T00:00:04.999Z'))).toBe(
      at('2026-01-01T00:00:05Z'),
    );
  });

  it('follow the wall clock of the zone', () => {
    expect(take('30 6 * * *', 'America/Sao_Paulo', '2026-01-01T12:00:00Z', 2)).toEqual([
      '2026-01-02T06:30:00',
      '2026-01-03T06:30:00',
    ]);
  });

  it('follow weekdays, months and last days as node-cron does', () => {
    expect(take('0 8 * * 1', 'UTC', '2026-11-15T00:00:00Z', 2)).toEqual(['2026-11-16T08:00:00', '2026-11-23T08:00:00']);
    expect(take('0 0 L 2 *', 'UTC', '2027-01-01T00:00:00Z', 2)).toEqual(['2027-02-28T00:00:00', '2028-02-29T00:00:00']);
  });

  it('run a daily slot once although its hour does not exist', () => {
    // New York jumps from 02:00 to 03:00 on 8 March 2026.
    expect(take('30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 2)).toEqual([
      '2026-03-08T03:30:00',
      '2026-03-09T02:30:00',
    ]);
  });

  it('run a daily slot once although its hour comes twice', () => {
    expect(take('30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 2)).toEqual([
      '2026-11-01T01:30:00',
      '2026-11-02T01:30:00',
    ]);
  });

  it('run a slot at a midnight that does not exist', () => {
    // Sao Paulo jumped from 00:00 to 01:00 on 4 November 2018.
    expect(take('0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00:00Z', 2)).toEqual([
      '2018-11-04T01:00:00',
      '2018-11-05T00:00:00',
    ]);
  });

  it('of every ten minutes are ten minutes apart through both changes', () => {
    for (const from of ['2026-03-08T05:00:00Z', '2026-11-01T04:00:00Z']) {
      const ticks = [...ticksAfter({ cron: '*/10 * * * *', timezone: 'America/New_York' }, at(from)).take(40)];
      const gaps = ticks.slice(1).map((tick, index) => tick - (ticks[index] ?? 0));
      expect(new Set(gaps)).toEqual(new Set([600_000]));
    }
  });

  it('of a schedule that never occurs are none', () => {
    expect(nextTick({ cron: '0 0 1 2 1#5', timezone: 'UTC' }, at('2026-01-01T00:00:00Z'))).toBeUndefined();
  });

  it('flag the days on which the clock changes', () => {
    expect(isClockChangeDay('America/New_York', at('2026-03-08T15:00:00Z'))).toBe(true);
    expect(isClockChangeDay('America/New_York', at('2026-03-09T15:00:00Z'))).toBe(false);
  });
});
