// Opens an ERP source by its name, and checks the settings of one.
import type { FeedKind } from './feed-kinds.ts';
import { mappingIssues } from './rows/mapping.ts';
import type { ErpSource, SourceContext } from './source.ts';
import { type FilesSettings, openFiles } from './sources/files.ts';
import { type HttpSettings, openHttp } from './sources/http.ts';
import { openSql, type SqlSettings } from './sources/sql.ts';
import { BINDINGS, IDENTIFYING, rowsIssue, unknownBindings } from './sql/statements.ts';

export type FeedSettings = FilesSettings | SqlSettings | HttpSettings;

export function openSource(settings: FeedSettings, context: SourceContext): ErpSource {
  if (settings.source === 'files') return openFiles(settings, context);
  return settings.source === 'sql' ? openSql(settings, context) : openHttp(settings, context);
}

/**
 * What `config check` finds wrong with a feed without opening it: canonical paths that do not exist, names of values that a
 * statement does not get, and statements that would reach other items.
 */
export function feedIssues(kind: string, feed: FeedSettings): { path: string[]; message: string; hint: string }[] {
  const mapping = mappingIssues(kind as FeedKind, feed.mapping).map(([path, { message, hint = '' }]) => ({
    path: ['mapping', path],
    message,
    hint,
  }));
  const statements = (['acknowledge', 'return'] as const).flatMap((setting) => {
    const statement = feed.source === 'sql' ? feed[setting] : undefined;
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
