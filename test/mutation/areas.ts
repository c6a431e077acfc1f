// The core that is mutated, by area, and the tests that have to notice. They run for every mutant, so they are quick ones.

export interface Area {
  /** Under src/. */
  files: readonly string[];
  /** Under test/, in the order in which they run. */
  tests: readonly string[];
}

export const AREAS: Readonly<Record<string, Area>> = {
  retry: {
    files: ['core/retry/retry.ts', 'core/retry/retry-budget.ts', 'core/retry/breaker.ts'],
    tests: ['unit/retry.test.ts', 'unit/retry-budget.test.ts', 'unit/breaker.test.ts'],
  },
  coverage: {
    files: ['warehouse/control/coverage.ts', 'sync/pull/plan/windows.ts', 'sync/pull/plan/window-slices.ts'],
    tests: ['unit/windows.test.ts', 'conformance/coverage.test.ts'],
  },
  lease: {
    files: ['warehouse/control/leases.ts', 'warehouse/control/processes.ts'],
    tests: ['conformance/leases.test.ts', 'scenario/status-daemons.test.ts'],
  },
  outbox: {
    files: [
      'warehouse/outbox/entry.ts',
      'warehouse/outbox/transitions.ts',
      'warehouse/outbox/queries.ts',
      'warehouse/outbox/lists.ts',
      'warehouse/outbox/attempts.ts',
    ],
    tests: [
      'unit/push-decide.test.ts',
      'unit/push-offer.test.ts',
      'unit/push-outcome.test.ts',
      'conformance/outbox.test.ts',
    ],
  },
  push: {
    files: ['sync/push/decide.ts', 'sync/push/offer.ts', 'sync/push/outcome.ts', 'sync/push/windows.ts'],
    tests: ['unit/push-decide.test.ts', 'unit/push-offer.test.ts', 'unit/push-outcome.test.ts'],
  },
  ingest: {
    files: ['sync/push/ingest.ts'],
    tests: [
      'scenario/push-acknowledge.test.ts',
      'scenario/push-invalid-changes.test.ts',
      'scenario/push-cuts.test.ts',
      'scenario/push-rare-cases.test.ts',
      'scenario/push-promise.test.ts',
    ],
  },
  sending: {
    files: ['sync/push/send.ts', 'sync/push/read-back.ts'],
    tests: [
      'scenario/push-outcomes.test.ts',
      'scenario/push-keys.test.ts',
      'scenario/push-shared-keys.test.ts',
      'scenario/push-changes.test.ts',
      'scenario/push-unreadable.test.ts',
      'scenario/push-doubts.test.ts',
      'scenario/push-concurrency.test.ts',
      'scenario/push-turned-away.test.ts',
      'scenario/push-invalid-changes.test.ts',
      'scenario/push-rare-cases.test.ts',
      'scenario/push-inconclusive.test.ts',
      'scenario/push-promise.test.ts',
    ],
  },
};
