// The `http` source: one address returns JSON records, others take the outcomes. The ERP decides which records it returns.
// The engine recognises known items by code and content, so no record is marked as taken.
import { chunks } from '../../core/chunks.ts';
import { Fatal } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { inBatches } from '../batches.ts';
import { readFileInLimits } from '../files/drop-file-reader.ts';
import { reportedOutcome } from '../files/result.ts';
import { returnedStop } from '../files/returns.ts';
import type { ParsedItem } from '../items/item.ts';
import type { Mapping } from '../rows/mapping.ts';
import { readerOf } from '../rows/row-reader.ts';
import type { FeedFormats } from '../rows/written-values.ts';
import type { ErpSource, ReadError, SourceContext } from '../source.ts';
import { createHttpExchange, tooLarge, unreadable } from './http-exchange.ts';

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
  const { returnUrl } = settings;
  const reader = readerOf(settings, context);
  const exchange = createHttpExchange(settings.headers, context);

  async function* readItems(signal?: AbortSignal): AsyncIterable<ParsedItem> {
    const { content, encoding } = await exchange.get(settings.url, signal);
    const answer = { path: 'answer.json', name: kind, size: content.length, content };
    const context = { ...reader, records: settings.records, file: { encoding } };
    for await (const parsed of readFileInLimits(answer, context, { signal })) {
      if ('readError' in parsed && parsed.whole !== undefined)
        throw parsed.whole === 'too_large' ? tooLarge(settings.url) : unreadable(settings.url, parsed.readError.reason);
      yield parsed;
    }
  }

  async function send(url: string | undefined, name: string, entries: readonly object[]): Promise<void> {
    if (url === undefined) return;
    for (const page of chunks(entries, PAGE)) await exchange.post(url, { kind, [name]: page as Json[] });
  }

  return {
    async *read(signal) {
      yield* inBatches(kind, readItems(signal), reader);
    },
    acknowledge: (outcomes) => send(settings.acknowledgeUrl, 'outcomes', outcomes.map(reportedOutcome)),
    ...(returnUrl !== undefined && {
      returnExecutions: (stops) => send(returnUrl, 'stops', stops.map(returnedStop)),
    }),
    async check() {
      let items = 0;
      let unread: ReadError | undefined;
      for await (const parsed of readItems()) {
        items++;
        if ('readError' in parsed) unread ??= parsed.readError;
      }
      if (unread === undefined) return `The address of the ERP answers with ${items} readable items.`;
      const { origin, reason } = unread;
      throw new Fatal(`The address of the ERP answers, but its records cannot be read: ${origin} ${reason}`, {
        code: 'erp_rows_unreadable',
        hint: 'npx roadbook erp check lists every record that cannot be read, and suggests a mapping.',
      });
    },
    async close() {},
  };
}
