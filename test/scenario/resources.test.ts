// A sample of test/prove/resources.ts: no room, and a lock, each met by the real process. A PostgreSQL that ends
// sessions or is started anew is met by the engine itself in test/conformance/postgres-engine.test.ts.
import { expect, it } from 'vitest';
import { fillDisk } from '../support/full-disk.ts';
import { lockFor } from '../support/locked-file.ts';

it('a push that has no room left says so plainly, and sends once when there is room', async () => {
  const report = await fillDisk({ work: 'push from a drop folder', times: 1 });
  expect(report).toMatchObject({ unharmed: 0, unclear: [], wrong: [] });
});

it('a warehouse that another program has locked is waited for', async () => {
  const report = await lockFor(1_000);
  expect(report).toMatchObject({ code: 0, next: 0, rows: report.truth });
});
