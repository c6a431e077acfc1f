// Creates the dependencies of a sandbox from its settings.

import { createFaults } from './faults/faults.ts';
import { createAccount } from './http/account.ts';
import type { CallName } from './http/call-names.ts';
import { createTokens } from './http/tokens.ts';
import { createLedger } from './ledger.ts';
import { createSandboxClock } from './sandbox-clock.ts';
import type { SandboxSettings } from './sandbox-options.ts';
import { createJournal } from './world/journal.ts';
import { createWorld } from './world/world.ts';

export type SandboxDependencies = ReturnType<typeof createSandboxDependencies>;

export function createSandboxDependencies(settings: SandboxSettings) {
  const clock = createSandboxClock(settings);
  const ledger = createLedger(clock.wallNow);
  return {
    settings,
    clock,
    ledger,
    account: createAccount(settings.credentials),
    tokens: createTokens(settings, clock.wallNow),
    faults: createFaults(settings, ledger),
    world: createWorld(settings, clock, createJournal(settings.stateFile, ledger)),
    /** Records that a test added to a call's answers. */
    addedRecords: new Map<CallName, unknown[]>(),
  };
}
