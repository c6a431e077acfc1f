// The statements of a feed: which values they may name, names that no value has, and statements that would reach other items.
import { didYouMean } from '../../core/text/near-word.ts';

export type Bindings = Record<string, string | number | null>;

/** The values of each statement, by the name of its setting. */
export const BINDINGS = {
  acknowledge: ['external_code', 'period_start', 'state', 'remote_id', 'message'],
  return: [
    'plan_external_code',
    'plan_period_start',
    'point_external_code',
    'status',
    'executed_at',
    'reason',
    'pictures',
  ],
} as const satisfies Record<string, readonly string[]>;

/**
 * Texts, quoted names and comments, in which a colon names no value. Comments are the first group. `#` begins none: in
 * PostgreSQL it is an operator.
 */
const QUOTED = /'[^']*'?|"[^"]*"?|`[^`]*`?|(--(?=\s|$)[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?)/g;
/** Not the type of a cast (`::text`), an assignment (`:=`), a slice (`[1:n]`) or an escaped colon. */
const NAMED = /(?<![:\w\\\]]):([a-z_]\w*)/gi;

/** One sentence for each name in the statement that no value has. */
export function unknownBindings(setting: keyof typeof BINDINGS, statement: string): string[] {
  const known: readonly string[] = BINDINGS[setting];
  const names = [...statement.replace(QUOTED, ' ').matchAll(NAMED)].map(([, name = '']) => name);
  return [...new Set(names)]
    .filter((name) => !known.includes(name))
    .map((name) => `:${name} is no value of this statement${didYouMean(name, known)}`);
}

/** The values that say which item is meant; a statement needs one of them. The narrowest one is last. */
export const IDENTIFYING = {
  acknowledge: ['external_code'],
  return: ['plan_external_code', 'point_external_code'],
} as const satisfies Record<keyof typeof BINDINGS, readonly string[]>;

/**
 * Why the statement would change rows of other items, or does not say which item is meant. Looks at its words only: a `where`, a
 * join that leaves rows out or the value anywhere is enough, so that no valid statement is rejected.
 */
export function rowsIssue(setting: keyof typeof BINDINGS, statement: string): string | undefined {
  const isLimited = /\bwhere\b|join\b/i.test(statement.replace(KEEPING_JOINS, ''));
  if (/^(?:update|delete)\b/i.test(statement.replace(LEADING_COMMENTS, '')) && !isLimited)
    return 'has no `where`, so each outcome would change every row of the table';
  if (IDENTIFYING[setting].some((name) => statement.includes(`:${name}`))) return undefined;
  return `does not use :${IDENTIFYING[setting].join(' or :')}, so it does not say which item is meant`;
}

/** Such a join leaves out no row of the first table. A cross join of MySQL may have a condition. */
const KEEPING_JOINS = /\bleft(?:\s+outer)?\s+join\b/gi;

const LEADING_COMMENTS = /^(?:\s|--[^\n]*|#[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/)+/;

/**
 * The statement for knex, which binds every name and question mark. Those in comments are escaped, not removed: a comment may
 * be a hint. In `:state::state` the second name is a type, so a space is inserted.
 */
export function bindable(statement: string, bindings: Bindings): string {
  const cast = new RegExp(`::(?=(?:${Object.keys(bindings).join('|')})\\b)`, 'g');
  return statement
    .replace(QUOTED, (text, comment?: string) => comment?.replace(/(?<!\\)(?::(?=\w)|\?)/g, '\\$&') ?? text)
    .replace(cast, ':: ');
}

/** Statements of which databases count the changed rows; a call of a procedure or a block has no such number. */
export const countsRows = (statement: string): boolean =>
  /^\s*(?:with\b.*\b)?(?:insert|update|delete|merge|replace)\b/is.test(statement.replace(QUOTED, ' '));
