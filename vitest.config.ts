import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,conformance,scenario,browser}/**/*.test.ts'],
    // One worker a core by itself would leave one idle: many tests wait for a process or a timer of the other side.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
