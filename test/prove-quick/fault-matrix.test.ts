// A sample of the fault matrix: every call of the service under the faults that a client easily gets wrong. The full
// matrix is `npm run prove -- --only fault-matrix`.
import { expect, it } from 'vitest';
import { FAULT_NAMES } from '../../src/sandbox/faults/faults.ts';
import { CALL_NAMES } from '../../src/sandbox/http/call-names.ts';
import { MATRIX, MOST_MB, nameOfFault, runRows } from '../support/fleet/fault-matrix.ts';

const SAMPLE = [
  'truncated',
  'empty',
  'wrong-shape',
  'wrong-encoding',
  'proto-keys',
  'redirect location=OTHER_HOST',
  'expired-token',
  '500 after commit',
];

it('the matrix has every fault that the sandbox knows', () => {
  const tried = new Set(MATRIX.map(({ fault }) => fault.fault));
  expect(FAULT_NAMES.filter((name) => !tried.has(name))).toEqual([]);
});

it('every call handles a fault correctly: class, attempts, no other host', async () => {
  const rows = MATRIX.filter(({ fault }) => SAMPLE.includes(nameOfFault(fault)));
  expect(rows).toHaveLength(SAMPLE.length);
  for (const { name, cells, wrong } of await runRows(rows)) {
    expect({ name, wrong }).toEqual({ name, wrong: [] });
    expect(cells, `calls tried with ${name}; a new call needs a line in test/support/fleet/fault-calls.ts`).toBe(
      CALL_NAMES.length,
    );
  }
});

it('a compressed body of 500 MB is rejected before it is in memory', async () => {
  const bombs = MATRIX.filter(({ fault }) => fault.fault === 'gzip-bomb');
  const [result] = await runRows(bombs, 'vehicles');
  expect(bombs.map(({ fault }) => fault.bytes)).toEqual([500_000_000]);
  expect(result).toMatchObject({ cells: 1, wrong: [] });
  expect(result?.peakMb).toBeGreaterThan(64);
  expect(result?.peakMb).toBeLessThan(MOST_MB);
});
