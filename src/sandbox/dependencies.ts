// Creates the dependencies of a sandbox from its settings: clock, ledger, journal, world, account, tokens and faults.

import { createFaults } from './faults/faults.ts';
import { createAccount } from './http/account.ts';
import type { AdminDependencies } from './http/admin.ts';
import type { PipelineDependencies } from './http/call-pipeline.ts';
import { createTokens } from './http/tokens.ts';
import { createLedger } from './ledger.ts';
import type { SessionDependencies } from './routes/session.ts';
import { createSandboxClock, isAccelerated, newOrigin } from './sandbox-clock.ts';
import type { SandboxSettings } from './sandbox-options.ts';
import { createJournal, type JournalEntry, storedOrigin, type WrittenKind } from './world/journal.ts';
import { createWorld, type World } from './world/world.ts';

export interface SandboxDependencies extends SessionDependencies, PipelineDependencies, AdminDependencies {
  world: World;
}

const LEDGER_LISTS = {
  route_plan: 'plans',
  point_of_interest: 'points_of_interest',
  agent: 'agents',
  itinerary: 'itineraries',
} as const satisfies Record<WrittenKind, string>;

export function createSandboxDependencies(settings: SandboxSettings): SandboxDependencies {
  const { seed, stateFile, time, renewal, rotateRefresh, accessTokenTtlMs, refreshTokenTtlMs } = settings;
  const origin = isAccelerated(time) ? storedOrigin(stateFile, newOrigin(time)) : undefined;
  const clock = createSandboxClock(time, origin);
  const ledger = createLedger(clock.wallNow);
  const countCreated = (entry: JournalEntry): void => {
    if (entry.created) ledger.count(LEDGER_LISTS[entry.kind], entry.name);
  };
  const shapes = { ...settings.shapes };
  const world = createWorld(settings, clock, createJournal(stateFile, countCreated), shapes);
  const account = createAccount(settings.credentials);
  const tokens = createTokens({ seed, clock, accessTokenTtlMs, refreshTokenTtlMs });
  const faults = createFaults(seed, (name) => ledger.count('faults_injected', name));
  for (const fault of settings.faults) faults.add(fault);
  return {
    account,
    addedRecords: new Map(),
    clock,
    faults,
    ledger,
    renewal,
    rotateRefresh,
    shapes,
    tokens,
    world,
    sessionFaults: {
      'expired-token': () => tokens.expireAll('access'),
      'revoked-password': account.revokePassword,
    },
  };
}
