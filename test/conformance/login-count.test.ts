// Several daemons share the count of refused logins: none of them is lost, or the account would be locked.
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../src/core/time/manual-clock.ts';
import { createLoginGuard, MOST_REFUSED_LOGINS } from '../../src/fleet/session/login-guard.ts';
import type { SessionFacts, SessionMemory } from '../../src/fleet/session/session-memory.ts';
import { factMemory } from '../../src/warehouse/control/learned-facts.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema/converge.ts';
import { engineCases } from '../support/engines.ts';
import { stopPostgres } from '../support/postgres.ts';

afterAll(stopPostgres);

it.each(engineCases)('refusals that several daemons meet at once all count: $name', async ({ make }) => {
  const place = await make();
  const engines = await Promise.all(Array.from({ length: MOST_REFUSED_LOGINS }, () => place.open()));
  onTestFinished(async () => {
    for (const engine of engines) await engine.close();
    await place.remove();
  });
  for (const engine of engines) await bringSchemaUpToDate(engine);
  const clock = createManualClock(Date.parse('2026-03-10T15:00:00Z'));
  const guards = engines.map((engine) => {
    const { read, update } = factMemory<SessionFacts>(engine, 'session');
    const memory: SessionMemory = { read, update: (change) => update(change, clock.now()) };
    return createLoginGuard(['user', 'secret'], memory, clock);
  });
  await Promise.all(guards.map((guard) => guard.refused()));
  for (const guard of guards)
    await expect(guard.check()).rejects.toThrow('refused these credentials 3 times');
  await guards[0]?.accepted();
  for (const guard of guards) await guard.check();
});
