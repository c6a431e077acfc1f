// The tests of one area of the mutated core. Named here and not by Stryker's `testFiles`, with which mutants of code that is
// made when a file is loaded come to life too late and seem to survive.
import { defineConfig, mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from '../../vitest.config.ts';
import { AREAS } from './areas.ts';

const { projects: _all, ...shared } = base.test ?? {};
const { files = [], tests = [] } = AREAS[process.env.MUTATED_AREA ?? ''] ?? {};

/** In the order of the area, because the first failure ends the run of a mutant. Vitest by itself begins with the slowest file. */
class AsListed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => tests.findIndex((test) => moduleId.endsWith(test));
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

export default mergeConfig(
  { ...base, test: shared },
  defineConfig({
    test: {
      include: tests.map((file) => `test/${file}`),
      // Loaded before any test: its values then belong to all tests, and not to the first that loads it.
      setupFiles: files.map((file) => `src/${file}`),
      env: { TEST_ENGINES: 'sqlite' },
      // The modules are loaded once for a mutant, not once for a file.
      isolate: false,
      sequence: { sequencer: AsListed },
    },
  }),
);
