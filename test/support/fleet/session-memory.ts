// The memory of a session that lasts as long as the test.
import type { SessionFacts, SessionMemory } from '../../../src/fleet/session/session-memory.ts';

export function createSessionMemory(): SessionMemory {
  let facts: SessionFacts | undefined;
  return {
    read: async () => facts,
    update: async (change) => {
      facts = await change(facts);
      return facts;
    },
  };
}
