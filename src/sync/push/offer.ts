// Decides what an item that the ERP offers does to the outbox entries of its code. Pure: the same offer leads to the same
// entry, and an offer that was taken before changes nothing.
import {
  type Attention,
  hasUnusableContent,
  type OutboxEntry,
  type Place,
  placeOf,
  reasonsOf,
  reasonsText,
  wasSent,
} from '../../warehouse/outbox/entry.ts';
import { FINAL } from '../../warehouse/outbox/queries.ts';
import { newEntry, transition } from '../../warehouse/outbox/transitions.ts';
import { CHANGED_AFTER_PUSH, keepFoundTwice } from './outcome.ts';
import { overlaps } from './windows.ts';

type OfferedColumn = 'kind' | 'external_code' | 'erp_code' | 'origin' | 'content_hash' | 'payload';

/** An item of the ERP, in the columns of its entry. `content_hash` is empty if the item could not be read. */
export interface Offer extends Pick<OutboxEntry, OfferedColumn>, Place {
  /** Why the item must not be sent; empty if it may be sent. */
  reasons: readonly string[];
  /** Local day on which the item starts; empty if it is unknown or the kind has no period. */
  day: string;
}

export interface OfferRules {
  /** The service has a call that changes an item. */
  canChange: boolean;
  reuseCodes: boolean;
  /** Changes after confirmation are flagged; otherwise they are ignored. */
  flagsChanges: boolean;
  /** The offers come in files, each of which is taken once. A query offers its items in every run. */
  inFiles: boolean;
  at: string;
  /** How long after a rejection by HTTP status the service may still show the item. */
  settleMs: number;
  /** The local day; empty without an instant. */
  dayOf(instant: string | null): string;
}

const INVALID = 'It is invalid and was not sent';
const UNREADABLE = 'It could not be read and was not sent';
const INVALID_CHANGE = 'The service may have an earlier content; the content that the ERP offers now cannot be sent';
const REOPENED = 'An earlier send may have arrived: it is read back before the changed content is sent';
const UNNAMED = 'The service has it, but must show its identifier before it can be changed';
const REUSED = 'The ERP reused the code for another day; it was not sent';

/** The entry after the offer; undefined if nothing changes. `uses` are all entries of the code, in order. */
export function takeOffer(uses: readonly OutboxEntry[], offer: Offer, rules: OfferRules): OutboxEntry | undefined {
  const after = entryAfter(uses, offer, rules);
  const before = uses.find(({ code_use }) => code_use === after?.code_use);
  if (after === undefined || before === undefined) return after;
  const changed = before.content_hash === after.content_hash ? after : { ...after, updated_at: rules.at };
  if (before.remote_id !== null) return changed;
  if (rules.dayOf(before.period_start) === rules.dayOf(after.period_start)) return changed;
  // On another day it is another plan: before this offer it had no deadline to keep for that day.
  return { ...changed, created_at: rules.at, confirmed_at: null };
}

/** If the ERP still offers a final entry, it may have missed the notification. It is notified again after this long. */
const NOTIFY_AGAIN_MS = 3_600_000;

/**
 * The final entry that the ERP still offers long after it was notified, with the clear code of the offer; undefined if there
 * is none. Its notification counts until the next one is made: the ERP has been notified.
 */
export function offeredStill(uses: readonly OutboxEntry[], offer: Offer, rules: OfferRules): OutboxEntry | undefined {
  const { known } = entryFor(uses, offer, rules);
  if (known?.content_hash !== offer.content_hash || known.told_at === null || !FINAL.includes(known.state))
    return undefined;
  const isLongAgo = Date.parse(rules.at) - Date.parse(known.told_at) >= NOTIFY_AGAIN_MS;
  return isLongAgo ? { ...known, erp_code: offer.erp_code } : undefined;
}

function entryAfter(uses: readonly OutboxEntry[], offer: Offer, rules: OfferRules): OutboxEntry | undefined {
  const { known, conflict } = entryFor(uses, offer, rules);
  const isRepeated = known?.content_hash === offer.content_hash;
  const isReused = known?.attention === 'code_reused';
  if (known !== undefined && isRepeated && isReused === (conflict !== undefined)) return repeated(known, offer, rules);
  const rejection = conflict === undefined ? rejectionOf(offer) : rejectedReuse(conflict, rules);
  if (known === undefined) {
    const code_use = (uses.at(-1)?.code_use ?? 0) + 1;
    const state = rejection === undefined ? 'ready' : 'rejected';
    return newEntry({ ...contentOf(offer), code_use, ...rejection, state }, rules.at);
  }
  if (rejection === undefined) return changed(known, offer, rules);
  if (conflict === undefined) return invalid(known, offer, rejection, rules);
  return transition(known, 'reject', rules.at, { ...contentOf(offer), ...rejection });
}

/**
 * `known` is the entry that the offer belongs to, undefined if the offer is new; `conflict` is an earlier use of the code on
 * another day, because of which the offer is rejected.
 */
function entryFor(uses: readonly OutboxEntry[], offer: Offer, rules: OfferRules) {
  const { canChange, reuseCodes, dayOf } = rules;
  const { day } = offer;
  const latest = uses.findLast(({ attention }) => attention !== 'code_reused');
  if (day === '' || (offer.period_end === null && !reuseCodes)) return { known: latest };
  const sameDay = uses.find(({ period_start }) => period_start !== null && dayOf(period_start) === day);
  // An item that could not be read gets no new entry for each day: one entry without a period represents it.
  if (reuseCodes && offer.period_start === null)
    return { known: sameDay ?? uses.findLast(({ period_start }) => period_start === null) };
  if (reuseCodes || (sameDay !== undefined && mayBeAtService(sameDay))) return { known: sameDay };
  const there = uses.filter(mayBeAtService);
  const moved = there.find((use) => isOverlapping(use, offer));
  const conflict = canChange || moved !== undefined ? undefined : there.at(-1);
  // The first use was found absent and is still to be sent. It is moved, because otherwise both would be sent.
  if (conflict === undefined && sameDay?.attention === 'code_reused' && latest?.state === 'ready')
    return { known: latest };
  return { known: sameDay ?? moved ?? (conflict === undefined ? latest : undefined), conflict };
}

const mayBeAtService = ({ state }: OutboxEntry): boolean => state === 'unknown' || state === 'confirmed';

/** A missing period counts as overlapping. */
function isOverlapping(a: Place, b: Place): boolean {
  if (a.period_start === null || a.period_end === null) return true;
  if (b.period_start === null || b.period_end === null) return true;
  return overlaps({ start: a.period_start, end: a.period_end }, { start: b.period_start, end: b.period_end });
}

const contentOf = ({ reasons: _reasons, day: _day, ...content }: Offer) => content;

interface Rejection {
  payload: null;
  attention: Attention | null;
  message: string;
  reasons: string | null;
}

function rejectionOf({ reasons, content_hash }: Offer): Rejection | undefined {
  if (reasons.length === 0) return undefined;
  const message = content_hash === '' ? UNREADABLE : INVALID;
  return { payload: null, attention: null, message, reasons: reasonsText(reasons) };
}

function rejectedReuse({ period_start, remote_id }: OutboxEntry, { dayOf }: OfferRules): Rejection {
  const day = period_start === null ? 'another day' : dayOf(period_start);
  const there = remote_id === null ? '' : `, with the id ${remote_id} at the service`;
  const reason = `code_reused: the code was used before, for ${day}${there}; give each plan its own code, or set reuse_codes: true`;
  return { payload: null, attention: 'code_reused', message: REUSED, reasons: reasonsText([reason]) };
}

function repeated(known: OutboxEntry, offer: Offer, rules: OfferRules): OutboxEntry | undefined {
  const { at } = rules;
  const { erp_code, origin, reasons } = offer;
  const rejection = rejectedAnew(known, rules);
  const hasOtherReasons = known.content_hash === '' && reasonsOf(known).join() !== reasons.join();
  if (hasOtherReasons)
    return transition(known, 'note', at, { reasons: reasonsText(reasons), told_at: null, erp_code, ...rejection });
  if (rejection !== undefined) return transition(known, 'note', at, { erp_code, origin, ...rejection });
  // Once the ERP has been notified, the clear code is no longer kept.
  const isDone = FINAL.includes(known.state) && known.told_at !== null;
  return isDone || known.erp_code === erp_code ? undefined : transition(known, 'note', at, { erp_code });
}

/** In another file it is another rejection for health and alerts; in every run of a query it is the same one. */
const rejectedAnew = ({ state }: OutboxEntry, { inFiles, at }: OfferRules) =>
  inFiles && state === 'rejected' ? { updated_at: at } : undefined;

/** The content has changed and may be sent. */
function changed(known: OutboxEntry, offer: Offer, rules: OfferRules): OutboxEntry | undefined {
  const { at, canChange } = rules;
  const content = contentOf(offer);
  // Keep the key and period of the content that was sent: a read-back finds it by them. Those of the new content replace
  // them once the read-back is conclusive.
  const unplaced = { ...content, ...placeOf(known) };
  const attention = attentionAfterContent(known);
  if (known.state === 'unknown') return transition(known, 'note', at, { ...unplaced, reasons: null, attention });
  if (known.state === 'confirmed') {
    if (offer.content_hash === known.sent_hash) return restored(known, offer, at);
    if (!canChange) return flagged(known, offer, rules);
    if (known.remote_id === null) return transition(known, 'note', at, { ...unplaced, message: UNNAMED, attention });
    return transition(known, 'update', at, { ...content, attention: keepFoundTwice(known) });
  }
  const isSamePlace = hasSamePlace(known, offer);
  if (mayHaveArrived(known, isSamePlace, rules))
    return transition(known, 'reopen', at, { ...unplaced, unknown_since: at, message: REOPENED });
  return transition(known, 'renew', at, { ...content, sent_hash: sentHashAt(known, isSamePlace) });
}

const hasSamePlace = (known: OutboxEntry, offer: Offer): boolean =>
  known.remote_key === offer.remote_key && isOverlapping(known, offer);

/** An earlier send under another key, or for another period, says nothing about the content of this place. */
const sentHashAt = ({ sent_hash, remote_id }: OutboxEntry, isSamePlace: boolean): string | null =>
  isSamePlace || remote_id !== null ? sent_hash : null;

/** The service may have stored an earlier send although its answer said otherwise, so that content is read back first. */
function mayHaveArrived(known: OutboxEntry, isSamePlace: boolean, { at, settleMs }: OfferRules): boolean {
  const { state, sent_hash, remote_id, updated_at } = known;
  if (state === 'cancelled') return known.unclear_sends > 0;
  if (!sent_hash || remote_id !== null) return false;
  if (state === 'rejected' && known.unclear_sends > 0) return true;
  return state === 'ready' ? !isSamePlace : Date.parse(at) - Date.parse(updated_at) < settleMs;
}

/** Content that can be sent has replaced unusable content, so the attention for the latter ends. */
const attentionAfterContent = (entry: OutboxEntry): Attention | null =>
  hasUnusableContent(entry) ? null : entry.attention;

/** Unless they are about the unusable content, they name the parts that the service did not take. */
const reasonsAfterContent = (entry: OutboxEntry): string | null => (hasUnusableContent(entry) ? null : entry.reasons);

/** The ERP offers the content that the service already has. */
const restored = (known: OutboxEntry, { content_hash, erp_code }: Offer, at: string): OutboxEntry =>
  transition(known, 'note', at, {
    content_hash,
    erp_code,
    payload: null,
    attention: attentionAfterContent(known),
    message: null,
    reasons: reasonsAfterContent(known),
    told_at: null,
  });

/** The service has older content, and no call can change it. */
function flagged(known: OutboxEntry, offer: Offer, { at, flagsChanges }: OfferRules): OutboxEntry | undefined {
  const { content_hash, erp_code, reasons } = offer;
  // Unusable content has to end, whether or not a difference counts.
  const isCorrected = hasUnusableContent(known) && reasons.length === 0;
  if (!flagsChanges && !isCorrected) return undefined;
  return transition(known, 'note', at, {
    content_hash,
    erp_code,
    attention: attentionAfterContent(known),
    message: reasons.length === 0 ? CHANGED_AFTER_PUSH : invalidChange(reasons),
    reasons: reasonsAfterContent(known),
    told_at: null,
  });
}

const invalidChange = ([reason, ...others]: readonly string[]): string =>
  others.length === 0
    ? `The ERP changed it in an invalid way after it was pushed: ${reason}`
    : `The ERP changed it in an invalid way after it was pushed; the first of its errors: ${reason}`;

/** The content has changed and must not be sent, or the item could not be read. */
function invalid(known: OutboxEntry, offer: Offer, rejection: Rejection, rules: OfferRules): OutboxEntry | undefined {
  const { content_hash, erp_code } = offer;
  const isUnread = content_hash === '';
  if (!mayBeAtService(known)) {
    // A read error does not change the content of a final entry. It has no key and no period, so the entry keeps its own.
    if (isUnread && known.state !== 'ready') {
      const rejected = rejectedAnew(known, rules);
      return rejected && transition(known, 'note', rules.at, rejected);
    }
    const isSamePlace = hasSamePlace(known, offer);
    // A read-back finds a send that may have arrived by its own key and period; a period that cannot be read is none.
    const isKept =
      isUnread || mayHaveArrived(known, isSamePlace, rules) || (wasSent(known) && offer.period_end === null);
    const place = isKept ? placeOf(known) : { sent_hash: sentHashAt(known, isSamePlace) };
    return transition(known, 'reject', rules.at, { ...contentOf(offer), ...place, ...rejection });
  }
  if (known.state === 'confirmed' && !isUnread && !rules.canChange) return flagged(known, offer, rules);
  const attention: Attention = isUnread ? 'read_error' : 'invalid_change';
  const change = { ...rejection, content_hash, erp_code, message: INVALID_CHANGE, attention, told_at: null };
  return transition(known, 'note', rules.at, change);
}
