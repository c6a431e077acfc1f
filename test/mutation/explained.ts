// The changes of the core that no test notices, each with the reason why it may survive. Any other survivor makes the
// proof fail (npm run mutate), and so does an explanation here whose change no longer survives.

export interface Mutant {
  /** Under src/. */
  file: string;
  /** The line that it begins on, to distinguish it from similar ones. */
  line: string;
  code: string;
  becomes: string;
}

export interface Explained extends Mutant {
  why: string;
}

const FOR_THE_TYPE = 'For the type checker alone: the other case cannot come here.';
const SAME_EITHER_WAY = 'Both sides of the edge give the same result.';

export const EXPLAINED: readonly Explained[] = [
  {
    file: 'core/retry/retry-budget.ts',
    line: 'if (balance < 1 - 1e-9) return false;',
    code: 'balance < 1 - 1e-9',
    becomes: 'balance <= 1 - 1e-9',
    why: 'The margin is for the rounding of sums; no sum of fifths meets its very edge.',
  },
  {
    file: 'warehouse/control/coverage.ts',
    line: "const least = (texts: readonly string[]): string => texts.toSorted().at(0) ?? '';",
    code: "''",
    becomes: '"Stryker was here!"',
    why: FOR_THE_TYPE,
  },
  {
    file: 'warehouse/control/coverage.ts',
    line: "const greatest = (texts: readonly string[]): string => texts.toSorted().at(-1) ?? '';",
    code: "''",
    becomes: '"Stryker was here!"',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/pull/plan/window-slices.ts',
    line: '.map((each) => (each.endAt < readAt ? each : { ...each, endAt: readAt }))',
    code: 'each.endAt < readAt',
    becomes: 'each.endAt <= readAt',
    why: SAME_EITHER_WAY,
  },
];
