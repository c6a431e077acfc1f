// Several daemons share the count of rejected logins. No rejection may be lost, or the account could be locked.
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../src/core/time/manual-clock.ts';
import { createLoginLimit, MOST_REJECTED_LOGINS } from '../../src/fleet/session/login-limit.ts';
import type { SessionFacts, SessionMemory } from '../../src/fleet/session/session-memory.ts';
import { factMemory } from '../../src/warehouse/control/learned-facts.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema/converge.ts';
import { engineCases } from '../support/engines.ts';
import { stopPostgres } from '../support/postgres.ts';

afterAll(stopPostgres);

it.each(engineCases)('rejections in several daemons at once are all counted: $name', async ({ make }) => {
  const place = await make();
  const engines = await Promise.all(Array.from({ length: MOST_REJECTED_LOGINS }, () => place.open()));
  onTestFinished(async () => {
    for (const engine of engines) await engine.close();
    await place.remove();
  });
  for (const engine of engines) await bringSchemaUpToDate(engine);
  const clock = createManualClock(Date.parse('2026-03-10T15:00:00Z'));
  const limits = engines.map((engine) => {
    const { read, update } = factMemory<SessionFacts>(engine, 'session');
    const memory: SessionMemory = { read, update: (change) => update(change, clock.now()) };
    return createLoginLimit(['user', 'secret'], memory, clock);
  });
  await Promise.all(limits.map((limit) => limit.countRejection()));
  for (const limit of limits) await expect(limit.check()).rejects.toThrow('rejected these credentials 3 times');
  await limits[0]?.clearRejections();
  for (const limit of limits) await limit.check();
});
