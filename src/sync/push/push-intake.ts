// Decides what to do with a thing that the ERP gives, from what the outbox knows of it. Pure: the same offer
// leads to the same step, and one that was already taken leads to none.
import type { OutboxEntry } from '../../warehouse/outbox-entry.ts';

export type Step =
  /** Not known yet, or known with another content and not at the service. */
  | 'queue'
  /** The same, but it breaks the rules. */
  | 'refuse'
  /** Nothing new. */
  | 'nothing'
  /** It may be at the service in its older content: the newer one is kept for when that is known. */
  | 'hold'
  /** The service has it, and a call can change it. */
  | 'change'
  /** The service has it, and no call can change it: it is flagged. */
  | 'flag'
  /** The ERP is back at the content that the service has, or that was taken before it broke the rules. */
  | 'unflag'
  /** The service has it or may have it; what the ERP gives now breaks the rules. */
  | 'note';

export type Known = Pick<OutboxEntry, 'state' | 'content_hash' | 'sent_hash' | 'noted_hash'>;

export interface Offer {
  hash: string;
  isValid: boolean;
}

export function intakeStep(known: Known | undefined, offer: Offer, canChange: boolean): Step {
  if (known === undefined) return offer.isValid ? 'queue' : 'refuse';
  const noteOnce = known.noted_hash === offer.hash ? 'nothing' : 'note';
  if (known.content_hash === offer.hash) {
    if (!isNoted(known)) return 'nothing';
    if (known.sent_hash === offer.hash) return 'unflag';
    if (known.state === 'confirmed' && !canChange) return 'flag';
    return offer.isValid ? 'unflag' : noteOnce;
  }
  switch (known.state) {
    case 'ready':
    case 'rejected':
    case 'cancelled':
      return offer.isValid ? 'queue' : 'refuse';
    case 'sending':
    case 'unknown':
      return offer.isValid ? 'hold' : noteOnce;
    case 'confirmed':
      if (offer.hash === known.sent_hash) return 'unflag';
      if (!canChange) return 'flag';
      return offer.isValid ? 'change' : noteOnce;
  }
}

const isNoted = ({ state, noted_hash }: Known): boolean =>
  noted_hash !== null && ['ready', 'sending', 'unknown', 'confirmed'].includes(state);

/** What becomes of an entry that the service is known to have in the content of `sent_hash`. */
export function confirmedAs(
  entry: Pick<OutboxEntry, 'content_hash' | 'sent_hash'>,
  canChange: boolean,
): 'confirmed' | 'changed-after-push' | 'to-change' {
  if (entry.sent_hash === null || entry.sent_hash === entry.content_hash) return 'confirmed';
  return canChange ? 'to-change' : 'changed-after-push';
}
