// Opens an ERP source by its name. Each source checks its own settings.
import type { ErpSource, SourceContext } from './source.ts';
import { type FilesSettings, openFiles } from './sources/files.ts';
import { type HttpSettings, openHttp } from './sources/http.ts';
import { openSql, type SqlSettings } from './sources/sql.ts';

export type FeedSettings = FilesSettings | SqlSettings | HttpSettings;

export function openSource(settings: FeedSettings, context: SourceContext): ErpSource {
  if (settings.source === 'files') return openFiles(settings, context);
  return settings.source === 'sql' ? openSql(settings, context) : openHttp(settings, context);
}
