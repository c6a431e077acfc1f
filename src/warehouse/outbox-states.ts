// The life of an outbox entry as data: every move there is, where it may start and where it ends. Nothing else
// changes a state, so an entry that may have reached the service can only be sent again by way of `absent`, or
// because a person vouches for it.

export const OUTBOX_STATES = ['ready', 'sending', 'unknown', 'confirmed', 'rejected', 'cancelled'] as const;
export type OutboxState = (typeof OUTBOX_STATES)[number];

interface Move {
  readonly from: readonly OutboxState[];
  readonly to: OutboxState;
}

export const MOVES = {
  /** A run takes it; on disk before the first byte leaves. */
  claim: { from: ['ready'], to: 'sending' },
  /** Nothing reached the service, or an answer says so: then it is searched for before it is sent again. */
  release: { from: ['sending'], to: 'ready' },
  /** The service has it: by its answer, or because it was found there. */
  confirm: { from: ['sending', 'unknown', 'ready', 'rejected'], to: 'confirmed' },
  /** It was confirmed, but the ERP has a newer content that a call can bring. */
  confirmOlder: { from: ['sending', 'unknown', 'ready'], to: 'ready' },
  /** The service refused it, or it breaks the rules. */
  refuse: { from: ['sending', 'ready'], to: 'rejected' },
  /** No clear answer, or the process died. */
  lose: { from: ['sending'], to: 'unknown' },
  /** The service was searched long enough and does not have it. */
  absent: { from: ['unknown'], to: 'ready' },
  /** The service does not have it, and what the ERP gave since must not be sent. */
  withdraw: { from: ['unknown'], to: 'rejected' },
  /** A send of it is in doubt, and no search can tell. */
  doubt: { from: ['ready'], to: 'unknown' },
  /** A person has looked at the service and vouches that it is not there. */
  vouch: { from: ['unknown', 'ready'], to: 'ready' },
  /** The ERP gave another content. */
  renew: { from: ['ready', 'rejected', 'cancelled'], to: 'ready' },
  /** The ERP gave another content, and a call can change what the service has. */
  change: { from: ['confirmed'], to: 'ready' },
  /** A person wants a refused one sent again. */
  retry: { from: ['rejected'], to: 'ready' },
  /** A person gives it up. */
  cancel: { from: ['ready', 'rejected'], to: 'cancelled' },
  /** A person gives up one that the service may have. */
  disown: { from: ['unknown'], to: 'cancelled' },
} as const satisfies Record<string, Move>;

export type MoveName = keyof typeof MOVES;

export const mayMove = (move: MoveName, from: OutboxState): boolean =>
  (MOVES[move].from as readonly OutboxState[]).includes(from);
