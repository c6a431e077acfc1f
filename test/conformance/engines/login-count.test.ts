// Several daemons share the count of rejected logins. No rejection may be lost, or the account could be locked.
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock, type ManualClock } from '../../../src/core/time/manual-clock.ts';
import {
  createLoginLimit,
  LOGIN_COOL_DOWN_MS,
  type LoginAttempt,
  type LoginLimit,
  MOST_REJECTED_LOGINS,
} from '../../../src/fleet/session/login-limit.ts';
import type { SessionFacts, SessionMemory } from '../../../src/fleet/session/session-memory.ts';
import { factMemory } from '../../../src/warehouse/control/learned-facts.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { engineCases } from '../../support/warehouse/engines.ts';

afterAll(stopPostgres);

describe.each(engineCases)('the login limit of several daemons: $name', ({ make }) => {
  // No more: in one process, each daemon that waits for the lock of SQLite occupies one of Node's four threads.
  const DAEMONS = MOST_REJECTED_LOGINS + 1;
  let clock: ManualClock;
  let limits: LoginLimit[];

  beforeEach(async () => {
    const place = await make();
    const engines = await Promise.all(Array.from({ length: DAEMONS }, () => place.open()));
    onTestFinished(async () => {
      for (const engine of engines) await engine.close();
      await place.remove();
    });
    for (const engine of engines) await bringSchemaUpToDate(engine);
    clock = createManualClock(Date.parse('2026-03-10T15:00:00Z'));
    limits = engines.map((engine) => {
      const { read, update } = factMemory<SessionFacts>(engine, 'session');
      const memory: SessionMemory = { read, update: (change) => update(change, clock.now()) };
      return createLoginLimit(['user', 'secret'], memory, clock);
    });
  });

  /** The logins that may be sent if all daemons try at once. */
  async function beginAll(): Promise<LoginAttempt[]> {
    const all = await Promise.allSettled(limits.map((limit) => limit.begin()));
    return all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  it('counts all rejections that come at once', async () => {
    const attempts = await beginAll();
    expect(attempts).toHaveLength(DAEMONS);
    await Promise.all(attempts.map((attempt) => attempt.countRejection()));
    for (const limit of limits)
      await expect(limit.begin()).rejects.toThrow(`rejected these credentials ${DAEMONS} times`);
    await limits[0]?.clearRejections();
    expect(await beginAll()).toHaveLength(DAEMONS);
  });

  it('lets through no more logins at once than may be rejected', async () => {
    await (await limits[0]?.begin())?.countRejection();
    const attempts = await beginAll();
    expect(attempts).toHaveLength(MOST_REJECTED_LOGINS - 1);
    for (const attempt of attempts) await attempt.countRejection();
    expect(await beginAll()).toHaveLength(0);
    await clock.advance(LOGIN_COOL_DOWN_MS);
    expect(await beginAll()).toHaveLength(1);
    await clock.advance(LOGIN_COOL_DOWN_MS);
    const [unanswered] = await beginAll();
    await unanswered?.giveBack();
    expect(await beginAll()).toHaveLength(1);
  });

  it('gives back each login without an answer', async () => {
    await (await limits[0]?.begin())?.countRejection();
    for (const attempt of await beginAll()) await attempt.giveBack();
    expect(await beginAll()).toHaveLength(MOST_REJECTED_LOGINS - 1);
  });
});
