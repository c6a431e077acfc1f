// What `config check` finds wrong with a feed without opening it: canonical paths that do not exist, and names of values that
// a statement does not get.
import type { FeedKind } from './feed-kinds.ts';
import { type Mapping, mappingIssues } from './rows/mapping.ts';
import { BINDINGS, unknownBindings } from './sql/statements.ts';

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
  return [...mapping, ...statements];
}
