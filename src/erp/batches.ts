// Packs what was read of a feed into batches of bounded size and yields to the event loop in between. In one read a code
// identifies one item, or one per start day if codes are reused. A repeated code invalidates the item: either of the two
// could be meant, or each could be half a plan. Only the first read errors are listed: a file of some megabytes may contain
// millions. The codes of one read stay in memory, so their number is limited.
import { yieldToEventLoop } from '../core/event-loop.ts';
import { inSizeLimit, LARGEST_ITEM, MOST_ITEM_ERRORS, type ParsedItem } from './items/item.ts';
import { type ErpBatch, invalidates, type ReadError, type SourceContext } from './source.ts';

/** Items and read errors per batch. */
const BATCH_SIZE = 500;

/** Characters per batch, as JSON. The push holds, parses and stores a batch in one step. */
const LARGEST_BATCH = 2 * LARGEST_ITEM;

/** Items between two yields to the event loop. */
export const ITEMS_PER_TURN = 500;

/** Listed read errors that belong to no item. */
const MOST_OTHER_ERRORS = 1_000;

/** After so many listed read errors, one is listed for each further item. */
const MOST_LISTED_ERRORS = 10_000;

/** Items per read, also those that cannot be read. The code of an item takes about 400 bytes until its file is finished. */
const MOST_CODES = 500_000;
/** Characters in these codes. */
const MOST_CODE_CHARACTERS = 64 * 1024 * 1024;
const TOO_MANY_CODES = `has more than ${MOST_CODES.toLocaleString('en')} items, or codes of more than 64 MB; split it; no item of it was read`;

type CodeRule = Pick<SourceContext, 'reuseCodes'>;

/** One occurrence of a code. */
interface Use {
  origin: string;
  /** Empty if unknown. */
  startDay: string;
}

/** The codes of one read so far. */
interface KnownCodes {
  uses: Map<string, Use[]>;
  count: number;
  characters: number;
}

export async function* inBatches(
  name: string,
  parsedItems: AsyncIterable<ParsedItem> | Iterable<ParsedItem>,
  rule: CodeRule,
): AsyncIterable<ErpBatch> {
  const codes: KnownCodes = { uses: new Map(), count: 0, characters: 0 };
  const isListed = createErrorLimit();
  let batch = emptyBatch(name, 1);
  let batchSize = 0;
  let count = 0;
  let unlisted = 0;
  for await (const given of parsedItems) {
    count += 1;
    if (count % ITEMS_PER_TURN === 0) await yieldToEventLoop();
    const [bounded, size] = inSizeLimit(given);
    const parsed = rejectRepeatedCode(bounded, codes, rule);
    if (codes.count > MOST_CODES || codes.characters > MOST_CODE_CHARACTERS) {
      yield { ...emptyBatch(name, 1), last: true, readErrors: [{ origin: name, reason: TOO_MANY_CODES }] };
      return;
    }
    if ('readError' in parsed && !isListed(parsed.readError)) {
      unlisted += 1;
      continue;
    }
    const isFull = batch.items.length + batch.readErrors.length >= BATCH_SIZE;
    if (isFull || batchSize + size > LARGEST_BATCH) {
      yield batch;
      batch = emptyBatch(name, batch.part + 1);
      batchSize = 0;
    }
    batchSize += size;
    if ('item' in parsed) batch.items.push(parsed.item);
    else invalidate(batch, parsed.readError);
  }
  if (unlisted > 0) batch.readErrors.push({ origin: name, reason: `${unlisted} more errors are not listed` });
  yield { ...batch, last: true };
}

const emptyBatch = (name: string, part: number): ErpBatch => ({
  name,
  part,
  last: false,
  items: [],
  readErrors: [],
});

/** Counts the read errors of each item and start day. One listed error is enough to invalidate the item. */
function createErrorLimit(): (readError: ReadError) => boolean {
  const counts = new Map<string | undefined, number>();
  let listed = 0;
  return ({ externalCode, startDay }) => {
    const key = externalCode === undefined ? undefined : JSON.stringify([externalCode, startDay]);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    const mostOfItem = listed < MOST_LISTED_ERRORS ? MOST_ITEM_ERRORS : 1;
    const isListed = count <= (key === undefined ? MOST_OTHER_ERRORS : mostOfItem);
    if (isListed) listed += 1;
    return isListed;
  };
}

function rejectRepeatedCode(parsed: ParsedItem, codes: KnownCodes, rule: CodeRule): ParsedItem {
  const { externalCode, origin, startDay = '' } = 'readError' in parsed ? parsed.readError : parsed.item;
  const use = { origin, startDay };
  const before = externalCode === undefined ? undefined : addUse(codes, externalCode, use, rule);
  if ('item' in parsed && before === undefined) return parsed;
  const { startDay: _, ...readError } =
    'readError' in parsed ? parsed.readError : { origin, externalCode, reason: repeatedCode(before, use, rule) };
  const isOfOneDay = startDay !== '' && (before === undefined || before.startDay === startDay);
  return { readError: isOfOneDay ? { ...readError, startDay } : readError };
}

/** Adds a use of the code. Returns an earlier use that may mean the same item; undefined if there is none. */
function addUse(codes: KnownCodes, code: string, use: Use, { reuseCodes }: CodeRule): Use | undefined {
  const known = codes.uses.get(code) ?? [];
  const before = known.find(({ startDay }) => !reuseCodes || isSameDay(startDay, use.startDay));
  if (known.some(({ startDay }) => startDay === use.startDay)) return before;
  if (known.length === 0) {
    codes.uses.set(code, known);
    codes.characters += code.length;
  }
  known.push(use);
  codes.count += 1;
  return before;
}

/** An unknown day may be any day. */
const isSameDay = (a: string, b: string): boolean => a === b || a === '' || b === '';

function invalidate(batch: ErpBatch, readError: ReadError): void {
  batch.readErrors.push(readError);
  if (readError.externalCode === undefined) return;
  batch.items = batch.items.filter(
    ({ externalCode, startDay }) => externalCode !== readError.externalCode || !invalidates(readError, startDay),
  );
}

function repeatedCode(before: Use | undefined, { startDay }: Use, { reuseCodes }: CodeRule): string {
  const once = reuseCodes ? 'once for each start day' : 'once';
  const isOtherDay = before !== undefined && before.startDay !== '' && startDay !== '' && before.startDay !== startDay;
  const hint = isOtherDay ? '; if the ERP reuses codes on other days, set reuse_codes of the push job' : '';
  return `this external code was already read at ${before?.origin}; keep the rows of a plan together (order them by its code) and use each code ${once}${hint}`;
}
