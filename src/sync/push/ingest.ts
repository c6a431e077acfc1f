// Takes the items that the ERP offers into the outbox. A file, query or answer is read to its end before any item is
// taken; until then its batches wait in a spool. Each batch is one transaction; the last one of a file also marks the file
// as taken.
import { asRoadbookError, Retriable } from '../../core/errors.ts';
import type { RunCounts } from '../../core/glossary.ts';
import { contentHash } from '../../erp/items/canonical-form.ts';
import { isUsualYear, localDay } from '../../erp/items/moments.ts';
import { validateItem } from '../../erp/items/schemas.ts';
import { type ErpBatch, type ErpItem, type ReadError, validItems } from '../../erp/source.ts';
import { nameOf, type OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { entriesByCode, type Period } from '../../warehouse/outbox/queries.ts';
import { storeEntries } from '../../warehouse/outbox/transitions.ts';
import { codesOf } from './codes.ts';
import { markTaken, takenFiles } from './file-results.ts';
import type { Payload, PushRun } from './kind.ts';
import { type Offer, type OfferRules, takeOffer } from './offer.ts';
import { noteUnread } from './push-issues.ts';
import { createSpool } from './spool.ts';

export async function ingestFeed(push: PushRun): Promise<void> {
  const { feed, context } = push;
  const spool = createSpool<ErpBatch>();
  const readErrors: ReadError[] = [];
  let unread: string | undefined;
  try {
    for await (const batch of feed.source.read(context.signal, await takenFiles(push))) {
      // If a file changed while it was read, it ends without a last batch. Drop its batches when the next file starts.
      if (batch.part === 1) {
        await spool.clear();
        readErrors.length = 0;
        unread = undefined;
      }
      await spool.add(batch);
      readErrors.push(...batch.readErrors.filter(({ externalCode }) => externalCode !== undefined));
      unread ??= batch.readErrors.find(({ externalCode }) => externalCode === undefined)?.reason;
      if (!batch.last) continue;
      const taken = new Set<string>();
      // An item that a later part invalidates is left out of every part: otherwise a crash between two parts could leave it
      // ready to be sent.
      const isValid = validItems(readErrors);
      for await (const part of spool.drain())
        await takeBatch(push, { ...part, items: part.items.filter(isValid) }, taken, unread);
    }
  } catch (thrown) {
    if (context.signal.aborted) return;
    push.report(asRoadbookError(thrown), 'feed could not be read to the end');
  } finally {
    await spool.clear();
  }
}

const changedMeanwhile = (): Retriable =>
  new Retriable('A person changed an entry while the ERP offered it', {
    code: 'entry_changed',
    hint: 'The next run takes the offer.',
  });

const DUPLICATE = 'this external code occurs twice, in different spellings; use each code once';

async function takeBatch(
  push: PushRun,
  batch: ErpBatch,
  taken: Set<string>,
  unread: string | undefined,
): Promise<void> {
  const offers = [
    ...batch.items.map((item) => offerOf(push, item)),
    ...batch.readErrors.flatMap((readError) => unreadOffer(push, batch.name, readError)),
  ].map((offer) => onceOnly(push, offer, taken));
  const codes = offers.map(({ external_code }) => external_code);
  const rules = rulesOf(push);
  const { counts } = push.context;
  await push.engine.write(async (tx) => {
    const known = await entriesByCode(tx.sql, push.kind.feed, codes);
    const changed = new Map<string, OutboxEntry>();
    for (const offer of offers) {
      const uses = known.get(offer.external_code) ?? [];
      const then = takeOffer(uses, offer, rules);
      const place = uses.findIndex(({ code_use }) => code_use === then?.code_use);
      count(counts, offer, uses[place], then);
      if (then === undefined) continue;
      // One code in two spellings changes the same entry twice. Store it once, over the revision that was read.
      const revision = changed.get(nameOf(then))?.revision ?? then.revision;
      changed.set(nameOf(then), { ...then, revision });
      known.set(offer.external_code, place === -1 ? [...uses, then] : uses.with(place, then));
    }
    const stored = await storeEntries(tx, [...changed.values()]);
    if (stored.size < changed.size) throw changedMeanwhile();
    if (batch.last) await noteUnread(tx, push, batch.name, unread && push.context.dependencies.redactor.redact(unread));
    if (batch.file !== undefined) await markTaken(tx, push, { name: batch.name, ...batch.file, readAt: push.now() });
  });
}

function count(counts: RunCounts, offer: Offer, before: OutboxEntry | undefined, then: OutboxEntry | undefined): void {
  const isRead = offer.content_hash !== '';
  const isRepeated = then === undefined || (before?.content_hash === then.content_hash && before.state === then.state);
  if (!isRead || (!isRepeated && then.state === 'rejected')) counts.rejected++;
  if (!isRead) return;
  counts.records++;
  counts[isRepeated ? 'unchanged' : before === undefined ? 'inserted' : 'updated']++;
}

/** Rejects the second offer of an entry, which occurs only if two spellings mean the same code. */
function onceOnly(push: PushRun, offer: Offer, taken: Set<string>): Offer {
  const name = JSON.stringify([offer.external_code, push.settings.reuse_codes ? offer.day : '']);
  if (!taken.has(name) || offer.content_hash === '') {
    taken.add(name);
    return offer;
  }
  return { ...offer, ...UNREAD, reasons: [DUPLICATE] };
}

const UNREAD = { content_hash: '', payload: null } as const;

/** An invalid item may have a period that a database cannot store. */
const usualPeriod = (period: Period | undefined): Period | undefined =>
  period !== undefined && isUsualYear(period.start) && isUsualYear(period.end) ? period : undefined;

export function offerOf({ kind, feed, digest, context }: PushRun, item: ErpItem): Offer {
  const { redact } = context.dependencies.redactor;
  const { externalCode, data } = item;
  const period = usualPeriod(kind.periodOf?.(data));
  const place = {
    remote_key: kind.keyOf(data, digest),
    period_start: period?.start ?? null,
    period_end: period?.end ?? null,
  };
  return {
    kind: kind.feed,
    ...codesOf(kind.feed, externalCode, digest),
    origin: redact(item.origin),
    content_hash: contentHash(item),
    reasons: validateItem(kind.feed, item).map(redact),
    day: item.startDay,
    payload: JSON.stringify({
      data,
      options: { ...feed.options, ...item.options },
      place,
    } satisfies Payload),
    ...place,
  };
}

/** Empty if the read error has no code: nothing shows which item it concerns. */
function unreadOffer(
  { kind, digest, context, unread }: PushRun,
  name: string,
  { origin, reason, externalCode, startDay = '' }: ReadError,
): Offer[] {
  const { redact } = context.dependencies.redactor;
  const read = { origin: redact(origin), reason: redact(reason) };
  context.log.warn(read, 'an item of the feed cannot be read');
  if (externalCode === undefined) {
    context.counts.rejected++;
    unread.push(name);
    return [];
  }
  return [
    {
      kind: kind.feed,
      ...codesOf(kind.feed, externalCode, digest),
      origin: read.origin,
      reasons: [read.reason],
      day: startDay,
      remote_key: '',
      period_start: null,
      period_end: null,
      ...UNREAD,
    },
  ];
}

export const rulesOf = ({ kind, settings, context, now }: PushRun): OfferRules => ({
  canChange: kind.change !== undefined,
  reuseCodes: settings.reuse_codes,
  flagsChanges: settings.after_confirmation !== 'ignore',
  at: now(),
  settleMs: settings.settle,
  dayOf: (instant) => localDay(instant, context.dependencies.timezone),
});
