// The tests of one area of the mutated core. Named here and not by Stryker's `testFiles`, with which mutants of code that is
// made when a file is loaded come to life too late and seem to survive.
import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';
import { AREAS } from './areas.ts';

const { projects: _all, ...shared } = base.test ?? {};
const { files = [], tests = [] } = AREAS[process.env.MUTATED_AREA ?? ''] ?? {};

export default mergeConfig(
  { ...base, test: shared },
  defineConfig({
    test: {
      include: tests.map((file) => `test/${file}`),
      // Loaded before any test: its values then belong to all tests, and not to the first that loads it.
      setupFiles: files.map((file) => `src/${file}`),
      env: { TEST_ENGINES: 'sqlite' },
    },
  }),
);
