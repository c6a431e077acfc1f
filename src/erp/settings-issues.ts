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
  const statements = (['acknowledge', 'return'] as const).flatMap((setting) =>
    unknownBindings(setting, feed[setting] ?? '').map((message) => ({
      path: [setting],
      message,
      hint: `its values are :${BINDINGS[setting].join(', :')}; write \\: for a colon that names none`,
    })),
  );
  return [...mapping, ...statements, ...rowsIssues(feed)];
}

const rowsIssues = (feed: CheckedFeed) =>
  (['acknowledge', 'return'] as const).flatMap((setting) => {
    const statement = feed[setting];
    const message = statement === undefined ? undefined : rowsIssue(setting, statement);
    const hint = `name the rows of the item: where … = :${IDENTIFYING[setting].at(-1)}`;
    return message === undefined ? [] : [{ path: [setting], message, hint }];
  });
