// What `config check` finds wrong with a feed without opening it: canonical paths that do not exist, names of values that a
// statement does not get, and statements that would reach other items.
import type { FeedKind } from './feed-kinds.ts';
import { type Mapping, mappingIssues } from './rows/mapping.ts';
import { BINDINGS, IDENTIFYING, rowsIssue, unknownBindings } from './sql/statements.ts';

interface CheckedFeed {
  mapping: Mapping;
  acknowledge?: string | undefined;
  return?: string | undefined;
}

export function feedIssues(kind: string, feed: CheckedFeed): { path: string[]; message: string; hint: string }[] {
  const mapping = mappingIssues(kind as FeedKind, feed.mapping).map(([path, { message, hint = '' }]) => ({
    path: ['mapping', path],
    message,
    hint,
  }));
  const statements = (['acknowledge', 'return'] as const).flatMap((setting) => {
    const statement = feed[setting];
    return statement === undefined ? [] : statementIssues(setting, statement);
  });
  return [...mapping, ...statements];
}

function statementIssues(setting: 'acknowledge' | 'return', statement: string) {
  const issues = unknownBindings(setting, statement).map((message) => ({
    path: [setting],
    message,
    hint: `its values are :${BINDINGS[setting].join(', :')}; write \\: for a colon that names none`,
  }));
  const message = rowsIssue(setting, statement);
  if (message === undefined) return issues;
  const hint = `name the rows of the item: where … = :${IDENTIFYING[setting].at(-1)}`;
  return [...issues, { path: [setting], message, hint }];
}
