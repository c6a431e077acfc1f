// Takes the items that the ERP offers into the outbox. A file, query or answer is read to its end before any item is
// taken; until then its batches wait in a spool. Each batch is one transaction; the last one of a file also marks the file
// as taken.
import { asRoadbookError, Retriable } from '../../core/errors.ts';
import { addCounts, type RunCounts, zeroCounts } from '../../core/glossary.ts';
import type { JsonObject } from '../../core/json.ts';
import { contentHash } from '../../erp/items/canonical-form.ts';
import { LONGEST_KEY } from '../../erp/items/field-schemas.ts';
import { startInstant } from '../../erp/items/item.ts';
import { isUsualYear, localDay } from '../../erp/items/moments.ts';
import { validateItem } from '../../erp/items/schemas.ts';
import { type ErpBatch, type ErpItem, type ReadError, validItems } from '../../erp/source.ts';
import { type OfferedContent, storeContents } from '../../warehouse/outbox/content.ts';
import { nameOf, type OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { entriesByCode, type Period } from '../../warehouse/outbox/queries.ts';
import { storeEntries } from '../../warehouse/outbox/transitions.ts';
import { hasOtherPolicies } from '../../warehouse/privacy/rewrite.ts';
import { routePlan } from '../../warehouse/tables/route-plan.ts';
import { routePoint } from '../../warehouse/tables/route-point.ts';
import { codesOf } from './codes.ts';
import { markTaken, takenFiles } from './file-results.ts';
import { type Payload, type PushRun, payloadOf, type RepeatedNotification, repeatedNotification } from './kind.ts';
import { type Offer, type OfferRules, offeredStill, takeOffer } from './offer.ts';
import { differsFromErp } from './outcome.ts';
import { noteUnread } from './push-issues.ts';
import { createSpool } from './spool.ts';

/** The offers of one batch of a file, query or answer that was read to its end. */
interface OfferedBatch {
  batch: ErpBatch;
  offers: Offer[];
  /** On the last batch: the read errors that have no code, so that nothing shows which items they concern. */
  uncoded: readonly ReadError[];
}

export async function* offeredBatches(push: PushRun): AsyncIterable<OfferedBatch> {
  const spool = createSpool<ErpBatch>();
  const readErrors: ReadError[] = [];
  const failures: unknown[] = [];
  try {
    for await (const batch of push.feed.source.read(push.context.signal, await takenFiles(push))) {
      // If a file changed while it was read, it ends without a last batch. Drop its batches when the next file starts.
      if (batch.part === 1) {
        await spool.clear();
        readErrors.length = 0;
      }
      await spool.add(batch);
      readErrors.push(...batch.readErrors);
      if (!batch.last) continue;
      // An item that a later part invalidates is left out of every part: otherwise a crash between two parts could leave it
      // ready to be sent.
      const isValid = validItems(readErrors);
      const unreadOffers = unreadItems(push, readErrors);
      const taken = new Set<string>();
      try {
        for await (const part of spool.drain()) {
          const items = part.items.filter(isValid).map((item) => offerOf(push, item));
          const offers = [...items, ...unreadOffers(part)].map((offer) => onceOnly(push, offer, taken));
          const uncoded = part.last ? readErrors.filter(({ externalCode }) => externalCode === undefined) : [];
          yield { batch: part, offers, uncoded };
        }
      } catch (thrown) {
        // A failure that nobody expected must not hold up the other files. The run reports it, and the next one tries again.
        push.context.log.warn({ file: batch.name }, 'items of the feed could not be taken; they will be read again');
        failures.push(thrown);
      }
    }
    if (failures.length > 0) throw failures[0];
  } finally {
    await spool.clear();
  }
}

export async function ingestFeed(push: PushRun): Promise<void> {
  try {
    for await (const offered of offeredBatches(push)) await takeBatch(push, offered);
  } catch (thrown) {
    if (push.context.signal.aborted) return;
    push.report(asRoadbookError(thrown), 'feed could not be read to the end');
  }
}

const changedMeanwhile = (): Retriable =>
  new Retriable('A person changed an entry while the ERP offered it', {
    code: 'entry_changed',
    hint: 'The next run takes the offer.',
  });

const DUPLICATE = 'this external code occurs twice, in different spellings; use each code once';

function contentOf({ kind }: PushRun, entry: OutboxEntry, offer: Offer): OfferedContent {
  const data = payloadOf(offer)?.data;
  return { entry, data, period: data && kind.periodOf?.(data), origin: offer.origin };
}

async function takeBatch(push: PushRun, { batch, offers, uncoded }: OfferedBatch): Promise<void> {
  logUnread(push, offers, uncoded);
  const codes = offers.map(({ external_code }) => external_code);
  const unread = uncoded[0]?.reason;
  const rules = rulesOf(push);
  const { privacy, redactor } = push.context.dependencies;
  const { redact } = redactor;
  const { record } = privacy.filter(routePoint);
  const asStored = {
    stop: (point: JsonObject) => record(point) as JsonObject,
    plate: (plate: string) => privacy.asStored(routePlan, 'vehicle_plate', plate),
  };
  const taken = await push.engine.write(async (tx) => {
    const known = await entriesByCode(tx.sql, push.kind.feed, codes);
    const counts = { ...zeroCounts(), rejected: uncoded.length };
    const changed = new Map<string, OutboxEntry>();
    const contents = new Map<string, OfferedContent>();
    const again: RepeatedNotification[] = [];
    const differing: string[] = [];
    for (const offer of offers) {
      const uses = known.get(offer.external_code) ?? [];
      const then = takeOffer(uses, offer, rules);
      const place = uses.findIndex(({ code_use }) => code_use === then?.code_use);
      count(counts, offer, uses[place], then);
      if (then === undefined) {
        const still = offeredStill(uses, offer, rules);
        if (still !== undefined) again.push(repeatedNotification(still));
        continue;
      }
      const isNew = uses[place]?.content_hash !== then.content_hash;
      if (isNew && differsFromErp(then)) differing.push(then.external_code);
      // One code in two spellings changes the same entry twice. Store it once, over the revision that was read.
      const revision = changed.get(nameOf(then))?.revision ?? then.revision;
      changed.set(nameOf(then), { ...then, revision });
      // Content that breaks a rule is never kept.
      if (offer.reasons.length === 0) contents.set(nameOf(then), contentOf(push, then, offer));
      known.set(offer.external_code, place === -1 ? [...uses, then] : uses.with(place, then));
    }
    const stored = await storeEntries(tx, [...changed.values()]);
    if (stored.size < changed.size) throw changedMeanwhile();
    // A process that still runs with earlier policies must not store personal values. It sends the plans all the same.
    if (contents.size > 0 && !(await hasOtherPolicies(tx, privacy)))
      await storeContents(tx, [...contents.values()], asStored, push.now());
    if (batch.last) await noteUnread(tx, push, batch, unread && redact(unread));
    if (batch.file !== undefined) await markTaken(tx, push, { name: batch.name, ...batch.file, readAt: push.now() });
    return { counts, again, differing };
  });
  addCounts(push.context.counts, taken.counts);
  for (const code of taken.differing) push.differing.add(code);
  push.again.push(...taken.again);
  push.unread.push(...uncoded.map(() => batch.name));
}

function logUnread({ context }: PushRun, offers: readonly Offer[], uncoded: readonly ReadError[]): void {
  const { redact } = context.dependencies.redactor;
  const items = offers.filter(({ content_hash }) => content_hash === '');
  const others = uncoded.map(({ origin, reason }) => ({ origin: redact(origin), reasons: [redact(reason)] }));
  for (const { origin, reasons } of [...items, ...others])
    context.log.warn({ origin, reasons }, 'an item of the feed cannot be read');
}

function count(counts: RunCounts, offer: Offer, before: OutboxEntry | undefined, then: OutboxEntry | undefined): void {
  const isRead = offer.content_hash !== '';
  const isRepeated = then === undefined || (before?.content_hash === then.content_hash && before.state === then.state);
  if (!isRead || (!isRepeated && then.state === 'rejected')) counts.rejected++;
  if (!isRead) return;
  counts.records++;
  counts[isRepeated ? 'unchanged' : before === undefined ? 'inserted' : 'updated']++;
}

/** The same for all offers of a read that belong to one entry. */
const entryName = ({ settings }: PushRun, { external_code, day }: Pick<Offer, 'external_code' | 'day'>): string =>
  JSON.stringify([external_code, settings.reuse_codes ? day : '']);

/** Rejects the second offer of an entry, which occurs only if two spellings mean the same code. */
function onceOnly(push: PushRun, offer: Offer, taken: Set<string>): Offer {
  const name = entryName(push, offer);
  if (!taken.has(name) || offer.content_hash === '') {
    taken.add(name);
    return offer;
  }
  return { ...offer, ...UNREAD, reasons: [DUPLICATE] };
}

const UNREAD = { content_hash: '', payload: null } as const;

/** An invalid item may have a period that a database cannot store, and a key that it cannot index. */
const usualPeriod = (period: Period | undefined): Period | undefined =>
  period !== undefined && isUsualYear(period.start) && isUsualYear(period.end) ? period : undefined;

function offerOf({ kind, digest, context }: PushRun, item: ErpItem): Offer {
  const { redact } = context.dependencies.redactor;
  const { externalCode, data } = item;
  const period = usualPeriod(kind.periodOf?.(data));
  const place = {
    remote_key: kind.keyOf(data, digest).slice(0, LONGEST_KEY),
    // The start alone distinguishes two items of a reused code.
    period_start: period?.start ?? startInstant(kind.feed, data),
    period_end: period?.end ?? null,
  };
  return {
    kind: kind.feed,
    ...codesOf(kind.feed, externalCode, digest),
    origin: redact(item.origin),
    content_hash: contentHash(item),
    reasons: validateItem(kind.feed, item).map(redact),
    day: item.startDay,
    payload: JSON.stringify({ data, options: item.options ?? {}, place } satisfies Payload),
    ...place,
  };
}

/** The offers of a part's unreadable items. Each is offered once in a read, with the reasons of all its read errors. */
function unreadItems(push: PushRun, readErrors: readonly ReadError[]): (part: ErpBatch) => Offer[] {
  const { kind, digest, context } = push;
  const { redact } = context.dependencies.redactor;
  const itemOf = ({ externalCode = '', startDay = '' }: ReadError) => {
    const codes = codesOf(kind.feed, externalCode, digest);
    return { ...codes, day: startDay, name: entryName(push, { ...codes, day: startDay }) };
  };
  const named = (errors: readonly ReadError[]) => errors.filter(({ externalCode }) => externalCode !== undefined);
  const byItem = Map.groupBy(named(readErrors), (readError) => itemOf(readError).name);
  return (part) =>
    named(part.readErrors).flatMap((readError): Offer[] => {
      const { name, ...item } = itemOf(readError);
      const own = byItem.get(name);
      if (own === undefined) return [];
      byItem.delete(name);
      const reasons = [...new Set(own.map(({ reason }) => redact(reason)))];
      const nowhere = { remote_key: '', period_start: null, period_end: null };
      return [{ kind: kind.feed, ...item, origin: redact(readError.origin), reasons, ...nowhere, ...UNREAD }];
    });
}

export const rulesOf = ({ kind, feed, settings, context, now }: PushRun): OfferRules => ({
  canChange: kind.change !== undefined,
  reuseCodes: settings.reuse_codes,
  flagsChanges: settings.after_confirmation !== 'ignore',
  inFiles: feed.source.files !== undefined,
  at: now(),
  settleMs: settings.settle,
  dayOf: (instant) => localDay(instant, context.dependencies.timezone),
});
