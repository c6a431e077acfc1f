// The core that is mutated, by area, and the tests that have to notice. They run for every mutant, so they are quick ones.

export interface Area {
  /** Under src/. */
  files: readonly string[];
  /** Under test/. */
  tests: readonly string[];
}

export const AREAS: Readonly<Record<string, Area>> = {
  retry: {
    files: ['core/retry.ts', 'core/retry-budget.ts', 'core/breaker.ts'],
    tests: ['unit/retry.test.ts', 'unit/retry-budget.test.ts', 'unit/breaker.test.ts'],
  },
  coverage: {
    files: ['warehouse/coverage.ts', 'sync/pull/windows.ts', 'sync/pull/window-slices.ts'],
    tests: ['unit/windows.test.ts', 'conformance/coverage.test.ts'],
  },
  lease: {
    files: ['warehouse/leases.ts', 'warehouse/lease-keeper.ts', 'warehouse/fenced-engine.ts'],
    tests: ['conformance/leases.test.ts'],
  },
  outbox: {
    files: [
      'warehouse/outbox.ts',
      'warehouse/outbox-states.ts',
      'warehouse/outbox-entry.ts',
      'warehouse/outbox-telling.ts',
      'warehouse/outbox-lookup.ts',
      'warehouse/outbox-search.ts',
      'warehouse/outbox-twins.ts',
      'warehouse/push-attempts.ts',
    ],
    tests: [
      'unit/outbox-states.test.ts',
      'conformance/outbox-claims.test.ts',
      'conformance/outbox-moves.test.ts',
      'conformance/outbox-lists.test.ts',
      'conformance/outbox-twins.test.ts',
    ],
  },
  push: {
    files: [
      'sync/push/push-failure.ts',
      'sync/push/push-intake.ts',
      'sync/push/push-sight.ts',
      'sync/push/push-listing.ts',
      'sync/push/absence-clock.ts',
      'sync/push/search-windows.ts',
      'sync/push/search-witness.ts',
    ],
    tests: [
      'unit/outbox-decisions.test.ts',
      'unit/push-listing.test.ts',
      'unit/absence-clock.test.ts',
      'unit/search-witness.test.ts',
    ],
  },
  sending: {
    files: ['sync/push/push-send.ts', 'sync/push/push-confirmation.ts'],
    tests: [
      'scenario/push-outcomes.test.ts',
      'scenario/push-lanes.test.ts',
      'scenario/push-confirmation.test.ts',
      'scenario/push-turned-away.test.ts',
      'scenario/push-doubts.test.ts',
      'scenario/push-changes.test.ts',
      'scenario/push-twins.test.ts',
      'scenario/push-withdrawn.test.ts',
    ],
  },
};
