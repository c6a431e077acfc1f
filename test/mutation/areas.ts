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
    tests: ['unit/core/retry.test.ts', 'unit/core/retry-budget.test.ts', 'unit/core/breaker.test.ts'],
  },
  coverage: {
    files: ['warehouse/control/coverage.ts', 'sync/pull/plan/windows.ts', 'sync/pull/plan/window-slices.ts'],
    tests: ['unit/pull/windows.test.ts', 'conformance/engines/coverage.test.ts'],
  },
  lease: {
    files: ['warehouse/control/leases.ts', 'warehouse/control/processes.ts'],
    tests: ['conformance/engines/leases.test.ts', 'scenario/status/status-daemons.test.ts'],
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
      'unit/push/push-decide.test.ts',
      'unit/push/push-offer.test.ts',
      'unit/push/push-outcome.test.ts',
      'conformance/engines/outbox.test.ts',
    ],
  },
  push: {
    files: ['sync/push/decide.ts', 'sync/push/offer.ts', 'sync/push/outcome.ts', 'sync/push/windows.ts'],
    tests: ['unit/push/push-decide.test.ts', 'unit/push/push-offer.test.ts', 'unit/push/push-outcome.test.ts'],
  },
  ingest: {
    files: ['sync/push/ingest.ts'],
    tests: [
      'scenario/erp/push-acknowledge.test.ts',
      'scenario/push/push-invalid-changes.test.ts',
      'scenario/push/push-cuts.test.ts',
      'scenario/push/push-rare-cases.test.ts',
      'scenario/push/push-promise.test.ts',
    ],
  },
  sending: {
    files: ['sync/push/send.ts', 'sync/push/read-back.ts'],
    tests: [
      'scenario/push/push-outcomes.test.ts',
      'scenario/push/push-keys.test.ts',
      'scenario/push/push-shared-keys.test.ts',
      'scenario/push/push-changes.test.ts',
      'scenario/push/push-unreadable.test.ts',
      'scenario/push/push-doubts.test.ts',
      'scenario/push/push-concurrency.test.ts',
      'scenario/push/push-turned-away.test.ts',
      'scenario/push/push-invalid-changes.test.ts',
      'scenario/push/push-rare-cases.test.ts',
      'scenario/push/push-inconclusive.test.ts',
      'scenario/push/push-promise.test.ts',
    ],
  },
};
