// A sample of test/prove/resources.ts: no room, a lock, a server that ends sessions, each met by the real process.
import { expect, it } from 'vitest';
import { fillDisk } from '../support/full-disk.ts';
import { lockFor } from '../support/locked-file.ts';
import { stormPostgres } from '../support/postgres-storm.ts';

it('a push that has no room left says so plainly, and sends once when there is room', async () => {
  const report = await fillDisk({ work: 'push from a drop folder', times: 1 });
  expect(report).toMatchObject({ unharmed: 0, unclear: [], wrong: [] });
});

it('a warehouse that another program has locked is waited for', async () => {
  const report = await lockFor(1_000);
  expect(report).toMatchObject({ code: 0, next: 0, rows: report.truth });
});

it('a PostgreSQL that ends every session again and again is lived with', { timeout: 180_000 }, async () => {
  const report = await stormPostgres({
    how: 'sessions ended',
    everyMs: 1_000,
    plans: 2,
    latencyMs: 100,
    pulls: ['pull-vehicles'],
  });
  expect(report).toMatchObject({ isDone: true, wrong: [], twice: 0, lost: 0, open: 0 });
});
