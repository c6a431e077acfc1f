import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../../src/core/time/durations.ts';

describe('durations', () => {
  it.each([
    ['90s', 90_000],
    ['10m', 600_000],
    ['6h', 21_600_000],
    ['7d', 604_800_000],
    ['250ms', 250],
    ['1.5h', 5_400_000],
  ])('reads %s as %i ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', '10', 'm', '10 minutes', '-5m', '1h30m', '1e3s'])('rejects %j', (text) =>
    expect(parseDuration(text)).toBeUndefined(),
  );

  it.each([
    [850, '850ms'],
    [2_400, '2.4s'],
    [5_400_000, '1h 30m'],
    [90_061_000, '1d 1h'],
    [59_999.6, '60s'],
  ])('formats %d ms as %s', (ms, text) => expect(formatDuration(ms)).toBe(text));
});
