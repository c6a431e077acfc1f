// What to do with an item that the ERP offers, given what the outbox knows of its code. Pure: the same offer leads to
// the same entry, and an offer that was taken before changes nothing.
import { type OutboxEntry, reasonsOf, reasonsText } from '../../warehouse/outbox/entry.ts';
import type { Period } from '../../warehouse/outbox/queries.ts';
import { type EntryChange, newEntry, transition } from '../../warehouse/outbox/transitions.ts';
import type { Place } from './kind.ts';
import { CHANGED_AFTER_PUSH, twiceOnly } from './outcome.ts';
import { overlaps } from './windows.ts';

export interface Offer {
  kind: string;
  external_code: string;
  erp_code: string | null;
  origin: string;
  /** Empty where the item could not be read. */
  content_hash: string;
  /** Why it must not be sent; empty where it may. */
  reasons: readonly string[];
  payload: string | null;
  place: Place;
  period: Period | undefined;
}

export interface OfferRules {
  /** A call can change what the service has. */
  canChange: boolean;
  reuseCodes: boolean;
  /** Changes after confirmation are flagged, not ignored. */
  flagsChanges: boolean;
  /** ISO instant of now. */
  at: string;
  /** How long a rejection by a status may be followed by the item itself. */
  settleMs: number;
  /** The local day of an instant. */
  dayOf(instant: string): string;
}

const INVALID = 'It breaks the rules and was not sent';
const UNREADABLE = 'It could not be read and was not sent';
const INVALID_CHANGE =
  'The service may have an earlier content; the one that the ERP offered since cannot be sent';
/** A final entry that is still offered may not have been heard of: the ERP is notified again after this long. */
const NOTIFY_AGAIN_MS = 3_600_000;

/** The entry as the offer leaves it; undefined where nothing changes. `uses` are all entries of the code, in order. */
export function takeOffer(
  uses: readonly OutboxEntry[],
  offer: Offer,
  rules: OfferRules,
): OutboxEntry | undefined {
  const { known, conflict } = entryFor(uses, offer, rules);
  const isRepeated = known?.content_hash === offer.content_hash;
  const isReused = known?.attention === 'code_reused';
  const code_use = (uses.at(-1)?.code_use ?? 0) + 1;
  if (known !== undefined && isRepeated && isReused === (conflict !== undefined))
    return repeated(known, offer, rules);
  if (conflict !== undefined) return rejectReuse(known, conflict, offer, code_use, rules);
  if (known === undefined) return added(offer, code_use, rules);
  return offer.reasons.length === 0 ? changed(known, offer, rules) : invalid(known, offer, rules);
}

interface Match {
  /** The entry that the offer is about; undefined where it is new. */
  known?: OutboxEntry;
  /** An earlier use of the code, on another day, that keeps this one from being sent. */
  conflict?: OutboxEntry;
}

function entryFor(
  uses: readonly OutboxEntry[],
  offer: Offer,
  { canChange, reuseCodes, dayOf }: OfferRules,
): Match {
  const { period } = offer;
  if (uses.length === 0) return {};
  const latest = uses.findLast(({ attention }) => attention !== 'code_reused');
  if (period === undefined) return latest === undefined ? {} : { known: latest };
  const day = dayOf(period.start);
  const sameDay = uses.find(({ period_start }) => period_start !== null && dayOf(period_start) === day);
  if (sameDay !== undefined && (reuseCodes || mayBeAtService(sameDay))) return { known: sameDay };
  if (reuseCodes) return {};
  const there = uses.filter(mayBeAtService);
  const moved = there.find((use) => isOverlapping(use, period));
  const conflict = canChange || moved !== undefined ? undefined : there.at(-1);
  const known = sameDay ?? moved ?? (conflict === undefined ? latest : undefined);
  return { ...(known && { known }), ...(conflict && { conflict }) };
}

const mayBeAtService = ({ state }: OutboxEntry): boolean =>
  state === 'sending' || state === 'unknown' || state === 'confirmed';

const isOverlapping = ({ period_start, period_end }: OutboxEntry, period: Period): boolean =>
  period_start === null || period_end === null || overlaps({ start: period_start, end: period_end }, period);

function rejectReuse(
  known: OutboxEntry | undefined,
  { period_start, remote_id }: OutboxEntry,
  offer: Offer,
  code_use: number,
  { at, dayOf }: OfferRules,
): OutboxEntry {
  const day = period_start === null ? 'another day' : dayOf(period_start);
  const there = remote_id === null ? '' : `, with the id ${remote_id} at the service`;
  const reason = `code_reused: the code was used before, for ${day}${there}; give each plan its own code, or set reuse_codes: true`;
  const change = {
    ...contentOf(offer),
    payload: null,
    attention: 'code_reused',
    message: 'The ERP used the code again for another day; it was not sent',
    reasons: reasonsText([reason]),
  } as const;
  if (known !== undefined) return transition(known, 'reject', at, change);
  const { kind, external_code } = offer;
  return newEntry({ kind, external_code, code_use, ...change, state: 'rejected' }, at);
}

const contentOf = ({ erp_code, origin, content_hash, payload, place }: Offer) => ({
  erp_code,
  origin,
  content_hash,
  payload,
  ...place,
});

const refusalOf = ({ reasons, content_hash }: Offer) => ({
  payload: null,
  reasons: reasonsText(reasons),
  message: content_hash === '' ? UNREADABLE : INVALID,
});

function added(offer: Offer, code_use: number, { at }: OfferRules): OutboxEntry {
  const { kind, external_code } = offer;
  const entry = { kind, external_code, code_use, ...contentOf(offer) };
  return offer.reasons.length === 0
    ? newEntry({ ...entry, state: 'ready' }, at)
    : newEntry({ ...entry, ...refusalOf(offer), state: 'rejected' }, at);
}

/** The same content again. */
function repeated(
  known: OutboxEntry,
  { erp_code, reasons }: Offer,
  { at }: OfferRules,
): OutboxEntry | undefined {
  const hasOtherReasons = known.content_hash === '' && reasonsOf(known).join() !== reasons.join();
  if (hasOtherReasons)
    return transition(known, 'note', at, { reasons: reasonsText(reasons), told_at: null, erp_code });
  const isFinal = ['confirmed', 'rejected', 'cancelled'].includes(known.state);
  if (!isFinal || known.told_at === null)
    return known.erp_code === erp_code ? undefined : transition(known, 'note', at, { erp_code });
  const isQuiet = Date.parse(at) - Date.parse(known.told_at) >= NOTIFY_AGAIN_MS;
  return isQuiet ? transition(known, 'note', at, { told_at: null, erp_code }) : undefined;
}

/** Another content, which may be sent. */
function changed(known: OutboxEntry, offer: Offer, rules: OfferRules): OutboxEntry | undefined {
  const { at, canChange } = rules;
  const content = contentOf(offer);
  // By what was sent it is found at the service; key and period follow when that is settled.
  const { remote_key: _key, period_start: _start, period_end: _end, ...kept } = content;
  // What was sent under another key, or for another time, says nothing about this one.
  const isSamePlace =
    known.remote_key === content.remote_key &&
    (offer.period === undefined || isOverlapping(known, offer.period));
  const sent_hash = isSamePlace || known.remote_id !== null ? known.sent_hash : null;
  switch (known.state) {
    case 'ready':
    case 'rejected':
    case 'cancelled':
      return mayHaveArrived(known, isSamePlace, rules)
        ? transition(known, 'reopen', at, { ...kept, unknown_since: at, message: REOPENED })
        : transition(known, 'renew', at, { ...content, sent_hash });
    case 'sending':
    case 'unknown':
      return transition(known, 'note', at, { ...kept, reasons: null, attention: contentSettled(known) });
    case 'confirmed':
      if (offer.content_hash === known.sent_hash) return restored(known, offer, at);
      if (!canChange) return flagged(known, offer, rules);
      return known.remote_id === null
        ? transition(known, 'note', at, { ...kept, message: UNNAMED, attention: contentSettled(known) })
        : transition(known, 'update', at, { ...content, attention: twiceOnly(known) });
  }
}

/** The answer to an earlier send may have come after the work was done: that content is looked for where it was sent. */
function mayHaveArrived(known: OutboxEntry, isSamePlace: boolean, { at, settleMs }: OfferRules): boolean {
  const { state, sent_hash, remote_id, updated_at } = known;
  if (state === 'cancelled') return known.unclear_sends > 0;
  if (!sent_hash || remote_id !== null) return false;
  return state === 'ready' ? !isSamePlace : Date.parse(at) - Date.parse(updated_at) < settleMs;
}

const REOPENED = 'An earlier send may have arrived: it is read back before the changed content is sent';
const UNNAMED = 'The service has it, and has to show it before it can be changed';

/** A content that can be sent has taken the place of one that could not. */
const contentSettled = ({ attention }: OutboxEntry): OutboxEntry['attention'] =>
  attention === 'read_error' || attention === 'invalid_change' ? null : attention;

/** The ERP is back at the content that the service has. */
const restored = (known: OutboxEntry, { content_hash, erp_code }: Offer, at: string): OutboxEntry =>
  transition(known, 'note', at, {
    content_hash,
    erp_code,
    payload: null,
    attention: contentSettled(known),
    message: null,
    reasons: null,
    told_at: null,
  });

function flagged(
  known: OutboxEntry,
  offer: Offer,
  { at, flagsChanges }: OfferRules,
): OutboxEntry | undefined {
  if (!flagsChanges) return undefined;
  const { content_hash, erp_code } = offer;
  const change: EntryChange = { content_hash, erp_code, message: CHANGED_AFTER_PUSH, told_at: null };
  return transition(known, 'note', at, { ...change, attention: contentSettled(known) });
}

/** Another content, which must not be sent, or something that could not be read. */
function invalid(known: OutboxEntry, offer: Offer, rules: OfferRules): OutboxEntry | undefined {
  const { at, canChange } = rules;
  const { content_hash, erp_code } = offer;
  const isUnread = content_hash === '';
  switch (known.state) {
    case 'ready':
      return transition(known, 'reject', at, {
        ...contentOf(offer),
        ...placeOf(known, isUnread),
        ...refusalOf(offer),
        sent_hash: known.sent_hash,
      });
    case 'rejected':
    case 'cancelled':
      // What could not be read is about an entry that is over.
      if (isUnread) return undefined;
      return transition(known, 'reject', at, { ...contentOf(offer), ...refusalOf(offer), attention: null });
    case 'confirmed':
      if (!isUnread && !canChange) return flagged(known, offer, rules);
      break;
    case 'sending':
    case 'unknown':
      break;
  }
  const attention = isUnread ? 'read_error' : 'invalid_change';
  const change = {
    content_hash,
    erp_code,
    payload: null,
    reasons: reasonsText(offer.reasons),
    message: INVALID_CHANGE,
  };
  return transition(known, 'note', at, { ...change, attention, told_at: null });
}

/** An item that could not be read has no key and no period of its own. */
const placeOf = ({ remote_key, period_start, period_end }: OutboxEntry, isUnread: boolean): EntryChange =>
  isUnread ? { remote_key, period_start, period_end } : {};
