// The period that --from and --to give.
import { expect, it } from 'vitest';
import { readPeriod } from '../../../src/cli/period.ts';

const ZONE = 'America/Sao_Paulo';
const beginOf = (from: string) => readPeriod({ from, to: '2026-03-01' }, ZONE)?.beginAt;

it.each([
  ['2026-01-31', '2026-01-31T03:00:00.000Z'],
  ['2026-01-31T18:00', '2026-01-31T21:00:00.000Z'],
  ['2026-01-31T18:00Z', '2026-01-31T18:00:00.000Z'],
  ['2026-01-31T18:00-02', '2026-01-31T20:00:00.000Z'],
  ['2026-01-31T18:00-0200', '2026-01-31T20:00:00.000Z'],
  ['2026-01-31T18:00+00:00[UTC]', '2026-01-31T18:00:00.000Z'],
  ['2026-01-31T18:00[Asia/Tokyo]', '2026-01-31T09:00:00.000Z'],
])('%s is %s', (from, instant) => {
  expect(beginOf(from)).toBe(instant);
});

it.each(['2026-02-31', '2026-01-31T18:00+02:00[UTC]', '2026-01-31[UTC', '2026-01-31 18:00 -02', 'yesterday'])(
  '%s is rejected',
  (from) => {
    expect(() => beginOf(from)).toThrow('--from is not a date or date-time');
  },
);
