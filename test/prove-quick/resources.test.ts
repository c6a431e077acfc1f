// A sample of test/prove/resources.ts: a full disk, and a lock, each met by the real process. How long the engine waits
// for a lock, and a lock that lasts longer, are tested in test/conformance/engines/sqlite-engine.test.ts; a PostgreSQL that
// ends sessions or restarts in test/long/warehouse/postgres-sessions.test.ts.
import { expect, it } from 'vitest';
import { fillDisk } from '../support/kills/full-disk.ts';
import { lockPush } from '../support/kills/locked-file.ts';

it('a push without disk space reports it plainly, and sends once when there is space', async () => {
  const report = await fillDisk({ work: 'push from a drop folder', times: 1 });
  expect(report).toMatchObject({ unharmed: 0, missed: [], unclear: [], wrong: [] });
});

it('an answer that comes while another program has locked the warehouse is stored later, and nothing is sent twice', async () => {
  const report = await lockPush(1_000);
  expect(report).toMatchObject({ code: 0, error: null, next: 0, done: report.of, twice: 0 });
});
