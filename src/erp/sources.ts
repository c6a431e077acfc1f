// Opens an ERP source by its name. Each source checks its own settings.
import type { ErpSource, SourceContext } from './source.ts';
import { type FilesSettings, files } from './sources/files.ts';
import { type HttpSettings, http } from './sources/http.ts';
import { type SqlSettings, sql } from './sources/sql.ts';

/** The settings of a feed in the configuration. */
export type FeedSettings = FilesSettings | SqlSettings | HttpSettings;

export function openSource(settings: FeedSettings, context: SourceContext): ErpSource {
  switch (settings.source) {
    case 'files':
      return files.open(settings, context);
    case 'sql':
      return sql.open(settings, context);
    case 'http':
      return http.open(settings, context);
  }
}
