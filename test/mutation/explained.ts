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
const ALL_COLUMNS = 'An empty name selects all columns, this one among them.';
const READ_ONCE_MORE = 'The leases are read once more, with the same result.';

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
  {
    file: 'warehouse/control/leases.ts',
    line: `.select('lease.*', ...HOLDER_COLUMNS.map((column) => \`process.\${column}\`));`,
    code: "'lease.*'",
    becomes: '""',
    why: ALL_COLUMNS,
  },
  {
    file: 'warehouse/control/leases.ts',
    line: "const leases: Lease[] = await sql(TABLE).where({ holder: dead.id }).select('name');",
    code: "'name'",
    becomes: '""',
    why: ALL_COLUMNS,
  },
  {
    file: 'warehouse/control/leases.ts',
    line: 'if (!isGone && observer.stillMs(row.id) < DEAD_MS) return false;',
    code: 'false',
    becomes: 'true',
    why: READ_ONCE_MORE,
  },
  {
    file: 'warehouse/control/leases.ts',
    line: 'return leases !== undefined;',
    code: 'leases !== undefined',
    becomes: 'true',
    why: READ_ONCE_MORE,
  },
  {
    file: 'warehouse/control/leases.ts',
    line: 'let isChanged = false;',
    code: 'false',
    becomes: 'true',
    why: READ_ONCE_MORE,
  },
  {
    file: 'warehouse/control/leases.ts',
    line: 'for (const lease of orphaned) isChanged = (await release(lease)) > 0 || isChanged;',
    code: '(await release(lease)) > 0',
    becomes: '(await release(lease)) >= 0',
    why: READ_ONCE_MORE,
  },
  {
    file: 'warehouse/control/processes.ts',
    line: 'stillMs: (id: string): number => seen.get(id)?.stillMs ?? 0,',
    code: 'seen.get(id)?.stillMs',
    becomes: 'seen.get(id).stillMs',
    why: FOR_THE_TYPE,
  },
  {
    file: 'warehouse/control/processes.ts',
    line: 'await ending?.stop();',
    code: 'ending?.stop',
    becomes: 'ending.stop',
    why: FOR_THE_TYPE,
  },
  {
    file: 'warehouse/control/processes.ts',
    line: 'reportGap(gap);',
    code: 'reportGap(gap);',
    becomes: ';',
    why: 'A file has the clock of this machine; on PostgreSQL, test/scenario/server-clock.test.ts notices it.',
  },
];
