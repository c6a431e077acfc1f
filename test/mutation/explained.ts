// The changes of the core that no test notices, each with the reason why it may live. Whatever else survives makes the
// proof fail (npm run mutate), and so does what is explained here and no longer survives.

export interface Mutant {
  /** Under src/. */
  file: string;
  /** The line that it begins on, to tell it from others like it. */
  line: string;
  code: string;
  becomes: string;
}

export interface Explained extends Mutant {
  why: string;
}

const FOR_THE_TYPE = 'For the type checker alone: the other case cannot come here.';
const ABSENT_IS_FALSE = 'A flag that is absent is read as false.';
const SAME_EITHER_WAY = 'Both sides of the edge give the same result.';

export const EXPLAINED: readonly Explained[] = [
  {
    file: 'core/retry-budget.ts',
    line: 'if (balance < 1 - 1e-9) return false;',
    code: 'balance < 1 - 1e-9',
    becomes: 'balance <= 1 - 1e-9',
    why: 'The margin is for the rounding of sums; no sum of fifths meets its very edge.',
  },
  {
    file: 'warehouse/coverage.ts',
    line: "const least = (texts: readonly string[]): string => texts.toSorted().at(0) ?? '';",
    code: "''",
    becomes: '"Stryker was here!"',
    why: FOR_THE_TYPE,
  },
  {
    file: 'warehouse/coverage.ts',
    line: "const greatest = (texts: readonly string[]): string => texts.toSorted().at(-1) ?? '';",
    code: "''",
    becomes: '"Stryker was here!"',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/pull/window-slices.ts',
    line: 'const until = endAt < readAt ? endAt : readAt;',
    code: 'endAt < readAt',
    becomes: 'endAt <= readAt',
    why: SAME_EITHER_WAY,
  },
  {
    file: 'warehouse/lease-keeper.ts',
    line: 'if (holder === null || pid === null || place === null) return false;',
    code: 'pid === null',
    becomes: 'false',
    why: FOR_THE_TYPE,
  },
  {
    file: 'warehouse/lease-keeper.ts',
    line: 'if (holder === null || pid === null || place === null) return false;',
    code: 'place === null',
    becomes: 'false',
    why: FOR_THE_TYPE,
  },
  {
    file: 'warehouse/outbox.ts',
    line: "const remote_key = claim.keyOf(entry.payload ?? '{}');",
    code: "'{}'",
    becomes: '""',
    why: FOR_THE_TYPE,
  },
  {
    file: 'warehouse/outbox.ts',
    line: 'return row?.since ?? null;',
    code: 'row?.since',
    becomes: 'row.since',
    why: FOR_THE_TYPE,
  },
  {
    file: 'warehouse/push-attempts.ts',
    line: 'const number = Number(last?.number ?? 0) + 1;',
    code: 'last?.number',
    becomes: 'last.number',
    why: FOR_THE_TYPE,
  },
  {
    file: 'warehouse/outbox.ts',
    line: 'if (!isKept) return undefined;',
    code: '!isKept',
    becomes: 'false',
    why: 'Nobody else can change the entry inside one writing transaction; if it ever came to that, the loop ends instead of spinning.',
  },
  {
    file: 'warehouse/outbox-lookup.ts',
    line: "text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll(/[!%_]/g, '!$&');",
    code: 'letter.toLowerCase()',
    becomes: 'letter.toUpperCase()',
    why: "SQLite's LIKE takes large and small letters for the same; on PostgreSQL test/conformance/outbox-lists.test.ts notices it.",
  },
  {
    file: 'sync/push/push-listing.ts',
    line: 'if (record === null || id === undefined) throw notAListing();',
    code: 'record === null',
    becomes: 'false',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/push-listing.ts',
    line: "return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;",
    code: "typeof id === 'number'",
    becomes: 'true',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/push-sight.ts',
    line: "if (entry.unknown_since === null || !isBefore(entry.unknown_since, search)) return { is: 'nothing' };",
    code: 'entry.unknown_since === null',
    becomes: 'false',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/push-sight.ts',
    line: "if (absent_since === null || absent_since > readAt) return { is: 'maybe-absent', since: readAt };",
    code: 'absent_since > readAt',
    becomes: 'absent_since >= readAt',
    why: 'Two searches do not begin in the same instant; if they did, nothing would have passed between them.',
  },
  {
    file: 'sync/push/search-windows.ts',
    line: 'const later = (a: string, b: string): string => (a > b ? a : b);',
    code: 'a > b',
    becomes: 'a >= b',
    why: SAME_EITHER_WAY,
  },
  {
    file: 'sync/push/search-windows.ts',
    line: "): boolean => isLong({ start: period_start ?? '', end: period_end ?? '' }) === window.isLong;",
    code: "''",
    becomes: '"Stryker was here!"',
    why: 'A period without an instant is not long, whatever stands in its place.',
  },
  {
    file: 'sync/push/search-witness.ts',
    line: '(remote_id !== null && listing.byId.has(remote_id)) || listing.byKey.has(remote_key),',
    code: 'remote_id !== null',
    becomes: 'true',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/push-send.ts',
    line: 'const WENT_ON: Sent = { stop: false, isInVain: false };',
    code: '{ stop: false, isInVain: false }',
    becomes: '{}',
    why: ABSENT_IS_FALSE,
  },
  {
    file: 'sync/push/push-send.ts',
    line: "if (verdict.is === 'refused') return refuse(push, claimed, reasons, { isAnswer: false });",
    code: '{ isAnswer: false }',
    becomes: '{}',
    why: ABSENT_IS_FALSE,
  },
  {
    file: 'sync/push/push-send.ts',
    line: 'entry.remote_id === null || kind.change === undefined',
    code: 'kind.change === undefined',
    becomes: 'false',
    why: FOR_THE_TYPE,
  },
];
