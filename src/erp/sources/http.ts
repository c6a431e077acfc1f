// The `http` source: one address returns JSON records, others take the outcomes. The ERP decides which records it returns.
// The engine recognises known items by code and content, so no record is marked as taken.
import { chunks } from '../../core/chunks.ts';
import { Fatal } from '../../core/errors.ts';
import type { Json } from '../../core/glossary.ts';
import { inBatches } from '../batches.ts';
import { reportedOutcome } from '../files/result.ts';
import { returnedStop } from '../files/returns.ts';
import { cellAt } from '../rows/flat-columns.ts';
import type { Mapping } from '../rows/mapping.ts';
import { readerOf, readRecords } from '../rows/row-reader.ts';
import type { FeedFormats } from '../rows/written-values.ts';
import type { ErpSource, SourceContext } from '../source.ts';
import { createHttpExchange } from './http-exchange.ts';

export interface HttpSettings extends FeedFormats {
  source: 'http';
  mapping: Mapping;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Dotted path to the list; empty if the answer itself is the list. */
  records: string;
  acknowledgeUrl?: string | undefined;
  returnUrl?: string | undefined;
}

/** Entries per POST. */
const PAGE = 500;

export function openHttp(settings: HttpSettings, context: SourceContext): ErpSource {
  const { kind } = context;
  const reader = readerOf(settings, context);
  const exchange = createHttpExchange(settings.headers, context);

  const list = async (signal?: AbortSignal): Promise<Json[]> =>
    listAt(await exchange.get(settings.url, signal), settings.records);

  async function send(url: string | undefined, name: string, entries: readonly object[]): Promise<void> {
    if (url === undefined) return;
    for (const page of chunks(entries, PAGE)) await exchange.post(url, { kind, [name]: page as Json[] });
  }

  return {
    async *read(signal) {
      yield* inBatches(kind, readRecords(await list(signal), kind, reader), reader);
    },
    acknowledge: (outcomes) => send(settings.acknowledgeUrl, 'outcomes', outcomes.map(reportedOutcome)),
    returnExecutions: (stops) => send(settings.returnUrl, 'stops', stops.map(returnedStop)),
    async check() {
      const records = await list();
      const unread = [...readRecords(records, kind, reader)].flatMap((reading) =>
        'readError' in reading ? [reading.readError] : [],
      );
      if (unread[0] === undefined) return `The address of the ERP answers with ${records.length} readable records.`;
      const { origin, reason } = unread[0];
      throw new Fatal(`The address of the ERP answers, but its records cannot be read: ${origin} ${reason}`, {
        code: 'erp_rows_unreadable',
        hint: 'npx roadbook erp check lists every record that cannot be read, and suggests a mapping.',
      });
    },
    async close() {},
  };
}

function listAt(answer: Json, path: string): Json[] {
  const found = path === '' || answer === null ? answer : cellAt(answer as Record<string, Json>, path);
  if (Array.isArray(found)) return found as Json[];
  const what = path === '' ? "The ERP's answer" : `The field "${path}" of the ERP's answer`;
  throw new Fatal(`${what} is not a list`, {
    code: 'erp_records_missing',
    hint: 'Set `records` of the feed to the dotted path of the list, for example data.orders.',
  });
}
