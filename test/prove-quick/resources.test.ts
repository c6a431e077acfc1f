// A sample of test/prove/resources.ts: no room, and a lock, each met by the real process. How long a lock is waited
// for, and one that lasts longer, are met by the engine itself in test/conformance/sqlite-engine.test.ts; a PostgreSQL that
// ends sessions or is started anew in test/conformance/postgres-sessions.test.ts.
import { expect, it } from 'vitest';
import { fillDisk } from '../support/full-disk.ts';
import { lockPush } from '../support/locked-file.ts';

it('a push that has no room left says so plainly, and sends once when there is room', async () => {
  const report = await fillDisk({ work: 'push from a drop folder', times: 1 });
  expect(report).toMatchObject({ unharmed: 0, missed: [], unclear: [], wrong: [] });
});

it('an answer that comes while another program has locked the warehouse is stored later, and nothing is sent twice', async () => {
  const report = await lockPush(1_000);
  expect(report).toMatchObject({ code: 0, error: null, next: 0, done: report.of, twice: 0 });
});
