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
const SAME_EITHER_WAY = 'Both forms give the same result.';
const ALL_COLUMNS = 'An empty name selects all columns, this one among them.';
const WHOLE_PUSHES = 'Whole pushes notice it: test/scenario/push/push-outcomes.test.ts.';
const OTHER_CAUSE = 'Of another cause neither status nor kind is known either.';
const NAMED_SUBQUERY = 'Only PostgreSQL 14 and 15 need the name of a subquery.';

export const EXPLAINED: readonly Explained[] = [
  {
    file: 'core/retry/retry-budget.ts',
    line: 'if (balance < 1 - 1e-9) return false;',
    code: 'balance < 1 - 1e-9',
    becomes: 'balance <= 1 - 1e-9',
    why: 'The margin is for the rounding of sums; no sum of fifths meets its very edge.',
  },
  {
    file: 'warehouse/control/leases.ts',
    line: `.select('lease.*', ...HOLDER_COLUMNS.map((column) => \`process.\${column}\`));`,
    code: "'lease.*'",
    becomes: '""',
    why: ALL_COLUMNS,
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
    why: 'A file has the clock of this machine; on PostgreSQL, test/scenario/daemon/server-clock.test.ts notices it.',
  },
  {
    file: 'warehouse/outbox/lists.ts',
    line: "text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll(/[!%_]/g, '!$&');",
    code: 'letter.toLowerCase()',
    becomes: 'letter.toUpperCase()',
    why: 'LIKE of SQLite ignores the case of these letters; on PostgreSQL, test/conformance/engines/outbox.test.ts notices it.',
  },
  {
    file: 'warehouse/outbox/queries.ts',
    line: 'return ready.sort((a, b) => (order(a) < order(b) ? -1 : 1));',
    code: 'order(a) < order(b)',
    becomes: 'order(a) <= order(b)',
    why: SAME_EITHER_WAY,
  },
  {
    file: 'warehouse/outbox/queries.ts',
    line: '(confirmed_at !== null && (confirmed_at <= start || confirmed_at > end)));',
    code: 'confirmed_at !== null',
    becomes: 'true',
    why: FOR_THE_TYPE,
  },
  {
    file: 'warehouse/outbox/queries.ts',
    line: ".orderBy(['external_code', 'code_use'])",
    code: "['external_code', 'code_use']",
    becomes: '[]',
    why: 'The entries come in the order of the index that the condition is written for.',
  },
  {
    file: 'warehouse/outbox/lists.ts',
    line: ".from(noted.unionAll([unknown, notAcknowledged]).as('entry'))",
    code: "'entry'",
    becomes: '""',
    why: NAMED_SUBQUERY,
  },
  {
    file: 'warehouse/outbox/lists.ts',
    line: ".from(found.as('entry'))",
    code: "'entry'",
    becomes: '""',
    why: NAMED_SUBQUERY,
  },
  {
    file: 'warehouse/outbox/lists.ts',
    line: ".orderBy(['reason', 'kind'])",
    code: "['reason', 'kind']",
    becomes: '[]',
    why: 'SQLite sorts to group; on PostgreSQL, test/conformance/engines/outbox.test.ts notices it.',
  },
  {
    file: 'warehouse/outbox/lists.ts',
    line: ".select('kind', 'updated_at');",
    code: "'kind'",
    becomes: '""',
    why: ALL_COLUMNS,
  },
  {
    file: 'warehouse/outbox/lists.ts',
    line: ".select('sent_at', 'seen_at'),",
    code: "'sent_at'",
    becomes: '""',
    why: ALL_COLUMNS,
  },
  {
    file: 'sync/push/decide.ts',
    line: "if (absent_since === null || absent_since > listedAt) return { is: 'too-early', since: listedAt };",
    code: 'absent_since > listedAt',
    becomes: 'absent_since >= listedAt',
    why: SAME_EITHER_WAY,
  },
  {
    file: 'sync/push/decide.ts',
    line: 'since !== null && Math.abs(Date.parse(until) - Date.parse(since)) >= ms;',
    code: 'since !== null',
    becomes: 'true',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/decide.ts',
    line: 'const known = remote_id === null ? undefined : byId.get(remote_id);',
    code: 'remote_id === null',
    becomes: 'false',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/decide.ts',
    line: "const own = { start: period_start ?? '', end: period_end ?? '' };",
    code: "''",
    becomes: '"Stryker was here!"',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/offer.ts',
    line: 'if (known?.content_hash !== offer.content_hash || known.told_at === null || !FINAL.includes(known.state))',
    code: 'known.told_at === null',
    becomes: 'false',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/offer.ts',
    line: "const day = period_start === null ? 'another day' : dayOf(period_start);",
    code: "'another day'",
    becomes: '""',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/offer.ts',
    line: "const day = period_start === null ? 'another day' : dayOf(period_start);",
    code: 'period_start === null',
    becomes: 'false',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/offer.ts',
    line: 'if (after === undefined || before === undefined) return after;',
    code: 'after === undefined',
    becomes: 'false',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/offer.ts',
    line: 'if (known !== undefined && isRepeated && isReused === (conflict !== undefined)) return repeated(known, offer, rules);',
    code: 'known !== undefined',
    becomes: 'true',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/offer.ts',
    line: 'if (conflict === undefined) return invalid(known, offer, rejection, rules);',
    code: 'conflict === undefined',
    becomes: 'true',
    why: 'The entry of a conflict is not at the service, and both functions reject such an entry in the same way.',
  },
  {
    file: 'sync/push/offer.ts',
    line: 'const sameDay = uses.find(({ period_start }) => period_start !== null && dayOf(period_start) === day);',
    code: 'period_start !== null',
    becomes: 'true',
    why: FOR_THE_TYPE,
  },
  {
    file: 'sync/push/outcome.ts',
    line: 'export const factsOf = ({ kind, context, now }: PushRun): Facts => ({',
    code: '({ kind, context, now }: PushRun): Facts => ({ kind, at: now(), redact: context.dependencies.redactor.redact, })',
    becomes: '() => undefined',
    why: WHOLE_PUSHES,
  },
  {
    file: 'sync/push/outcome.ts',
    line: 'export const factsOf = ({ kind, context, now }: PushRun): Facts => ({',
    code: '{ kind, at: now(), redact: context.dependencies.redactor.redact, }',
    becomes: '{}',
    why: WHOLE_PUSHES,
  },
  {
    file: 'sync/push/outcome.ts',
    line: '): Promise<T[]> {',
    code: "{ const { log, runId } = context; const stored = await storeSteps(tx, outcomes, runId, now()); if (stored.length < outcomes.length) log.warn({ entries: outcomes.length - stored.length }, 'entries changed before their outcome was stored'); return stored; }",
    becomes: '{}',
    why: WHOLE_PUSHES,
  },
  {
    file: 'sync/push/outcome.ts',
    line: 'thrown instanceof Error && thrown.cause instanceof FleetHttpError ? thrown.cause : undefined;',
    code: 'thrown instanceof Error && thrown.cause instanceof FleetHttpError',
    becomes: 'true',
    why: OTHER_CAUSE,
  },
  {
    file: 'sync/push/outcome.ts',
    line: 'thrown instanceof Error && thrown.cause instanceof FleetHttpError ? thrown.cause : undefined;',
    code: 'thrown instanceof Error && thrown.cause instanceof FleetHttpError',
    becomes: 'thrown instanceof Error || thrown.cause instanceof FleetHttpError',
    why: OTHER_CAUSE,
  },
  {
    file: 'sync/push/outcome.ts',
    line: 'default:',
    code: 'default: return undefined;',
    becomes: 'default:',
    why: SAME_EITHER_WAY,
  },
  {
    file: 'sync/push/windows.ts',
    line: 'for (const { entry, start, end } of dated.toSorted((a, b) => (a.start < b.start ? -1 : 1))) {',
    code: 'a.start < b.start',
    becomes: 'a.start <= b.start',
    why: SAME_EITHER_WAY,
  },
  {
    file: 'sync/push/windows.ts',
    line: 'const latest = last === undefined || end > last.end ? end : last.end;',
    code: 'end > last.end',
    becomes: 'end >= last.end',
    why: SAME_EITHER_WAY,
  },
  {
    file: 'warehouse/control/processes.ts',
    line: 'let recent: number[] = [];',
    code: '[]',
    becomes: '["Stryker was here"]',
    why: SAME_EITHER_WAY,
  },
];
