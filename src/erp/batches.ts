// Packs the readings into batches of bounded size, with turns for other work. Each code may give one item a read, or one for
// each start day where codes are reused. A code that comes again invalidates the item: nobody could tell which of the two is
// meant, or whether each is half a plan. A file of some megabytes may hold millions of read errors: only the first are listed.
import { yieldToEventLoop } from '../core/event-loop.ts';
import { MOST_ITEM_ERRORS, type Reading } from './items/item.ts';
import { type ErpBatch, type ErpFault, invalidates, type SourceContext } from './source.ts';

/** Items and faults a batch. */
const BATCH_SIZE = 500;

/** Readings in one turn of the event loop. */
const TURN = 500;

/** Read errors that belong to no item. */
const MOST_OTHER_ERRORS = 1_000;

type Rule = Pick<SourceContext, 'reuseCodes'>;

/** A reading of a code. */
interface Use {
  origin: string;
  /** Empty where it is not known. */
  startDay: string;
}

export async function* inBatches(
  name: string,
  readings: AsyncIterable<Reading> | Iterable<Reading>,
  rule: Rule,
): AsyncIterable<ErpBatch> {
  const uses = new Map<string, Use[]>();
  const isListed = createErrorLimit();
  let batch = emptyBatch(name, 1);
  let passed = 0;
  let unlisted = 0;
  for await (const given of readings) {
    passed += 1;
    if (passed % TURN === 0) await yieldToEventLoop();
    const reading = heldToOnce(given, uses, rule);
    if ('fault' in reading && !isListed(reading.fault)) {
      unlisted += 1;
      continue;
    }
    if (batch.items.length + batch.faults.length >= BATCH_SIZE) {
      yield batch;
      batch = emptyBatch(name, batch.part + 1);
    }
    if ('item' in reading) batch.items.push(reading.item);
    else invalidate(batch, reading.fault);
  }
  if (unlisted > 0) batch.faults.push({ origin: name, reason: `${unlisted} more errors are not listed` });
  yield { ...batch, last: true };
}

const emptyBatch = (name: string, part: number): ErpBatch => ({
  name,
  part,
  last: false,
  items: [],
  faults: [],
});

/** Counts the read errors of each item and start day; each of them invalidates the same. */
function createErrorLimit(): (fault: ErpFault) => boolean {
  const counts = new Map<string | undefined, number>();
  return ({ externalCode, startDay }) => {
    const key = externalCode === undefined ? undefined : JSON.stringify([externalCode, startDay]);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= (key === undefined ? MOST_OTHER_ERRORS : MOST_ITEM_ERRORS);
  };
}

function heldToOnce(reading: Reading, uses: Map<string, Use[]>, rule: Rule): Reading {
  const { externalCode, origin, startDay = '' } = 'fault' in reading ? reading.fault : reading.item;
  const use = { origin, startDay };
  const before = externalCode === undefined ? undefined : noteUse(uses, externalCode, use, rule);
  if ('item' in reading && before === undefined) return reading;
  const { startDay: _, ...fault } =
    'fault' in reading ? reading.fault : { origin, externalCode, reason: againReason(before, use, rule) };
  const isOfOneDay = startDay !== '' && (before === undefined || before.startDay === startDay);
  return { fault: isOfOneDay ? { ...fault, startDay } : fault };
}

/** The use of the code that this one cannot be told from; undefined where there is none. */
function noteUse(uses: Map<string, Use[]>, code: string, use: Use, { reuseCodes }: Rule): Use | undefined {
  const known = uses.get(code);
  if (known === undefined) {
    uses.set(code, [use]);
    return undefined;
  }
  const before = known.find(({ startDay }) => !reuseCodes || isSameDay(startDay, use.startDay));
  if (!known.some(({ startDay }) => startDay === use.startDay)) known.push(use);
  return before;
}

/** An unknown day may be any day. */
const isSameDay = (a: string, b: string): boolean => a === b || a === '' || b === '';

function invalidate(batch: ErpBatch, fault: ErpFault): void {
  batch.faults.push(fault);
  if (fault.externalCode === undefined) return;
  batch.items = batch.items.filter(
    ({ externalCode, startDay }) => externalCode !== fault.externalCode || !invalidates(fault, startDay),
  );
}

function againReason(before: Use | undefined, { startDay }: Use, { reuseCodes }: Rule): string {
  const once = reuseCodes ? 'once for each start day' : 'once';
  const isOtherDay =
    before !== undefined && before.startDay !== '' && startDay !== '' && before.startDay !== startDay;
  const hint = isOtherDay
    ? '; if the ERP uses codes again on other days, set reuse_codes of the push job'
    : '';
  return `this external code was read before, at ${before?.origin}; keep the rows of a plan together (order them by its code) and give each code ${once}${hint}`;
}
