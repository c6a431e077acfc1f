// The outbox: one row for each item that the ERP wants pushed. This file declares the table, the entry type, and the
// fields of an entry that people and scripts may see. Only transitions.ts changes the state of an entry.
import { controlTable, instant, integer, json, type RowOf, text } from '../schema/table.ts';

export const OUTBOX_STATES = ['ready', 'sending', 'unknown', 'confirmed', 'rejected', 'cancelled'] as const;
export type OutboxState = (typeof OUTBOX_STATES)[number];

/** Why an entry needs a person. A run reports its failures under the same codes. */
export const ATTENTION = [
  'found_twice',
  'never_shown',
  'retries_exhausted',
  'inconclusive',
  'code_reused',
  'read_error',
  'invalid_change',
] as const;
export type Attention = (typeof ATTENTION)[number];

/** Conditions of partial indexes. A query uses the index only if it repeats the condition word for word. */
export const IS_NOT_CONFIRMED = "state <> 'confirmed'";
export const IS_CONFIRMED = "state = 'confirmed'";
/** Confirmed entries that are read back: not yet listed by the service, still being optimised, or in need of a person. */
export const IS_WATCHED =
  "state = 'confirmed' and (seen_at is null or attention is not null or (kind = 'route_plans' and remote_status in ('W', 'R')))";

/** Confirmed entries that were sent more than once. */
export const IS_RESENT = "state = 'confirmed' and attempts > 1";

export const pushOutbox = controlTable({
  name: 'push_outbox',
  meaning: 'Every item that the ERP wants pushed, with its state and the reason for it.',
  key: ['kind', 'external_code', 'code_use'],
  columns: {
    kind: text('Feed of the item: route_plans, points_of_interest, agents or itineraries.'),
    external_code: text("The ERP's code of the item; a digest if the code is a tax number."),
    code_use: integer('Which use of the code this is, from 1: some ERPs use a route number every day.', {
      default: 1,
    }),
    erp_code: text('The code in clear if external_code is a digest; kept only while the ERP may have to be notified.', {
      personal: true,
    }),
    origin: text('Where the ERP offered the item: file and row, or row of the query.'),
    state: text('ready, sending, unknown, confirmed, rejected or cancelled.', { required: true }),
    attention: text(`Why the entry needs a person: ${ATTENTION.join(', ')}; null if it does not.`),
    attention_since: instant('Since when it needs one for that reason.'),
    message: text('The state in plain words.'),
    reasons: json('Reasons for the rejection of the item, or of a part of it, a list of sentences.', {
      personal: true,
    }),
    content_hash: text('Digest of the content that the ERP offered last; empty if it could not be read.', {
      required: true,
    }),
    sent_hash: text('Digest of the content that was sent last; null if none was sent, empty if it is not known.'),
    payload: json('The content to send; null once it no longer has to be sent.', { personal: true }),
    remote_id: integer('Identifier at the service; null until it is known.'),
    remote_key: text('Value by which the item is found at the service; a digest if that is a tax number.', {
      required: true,
    }),
    remote_status: text('Status at the service at the last read-back.'),
    period_start: instant('Start of the period of the item, as sent or to be sent.'),
    period_end: instant('End of the period of the item, as sent or to be sent.'),
    attempts: integer('Number of sends that were begun.', { required: true }),
    unclear_sends: integer('Number of consecutive sends without a clear outcome.', { required: true }),
    failed_sends: integer(
      'Number of consecutive sends that failed and are repeated: turned away, never left, or a change without a clear outcome.',
      { required: true, default: 0 },
    ),
    next_attempt_at: instant(
      'When a ready entry is due to be sent, or a confirmed one that needs a person to be read back; null for at once. An unknown entry is read back by every run.',
    ),
    unknown_since: instant('Since when the outcome is unknown, repeated sends included; null once it is known.'),
    absent_since: instant("Since when read-backs do not show the item, by the service's clock."),
    created_at: instant('When the ERP first offered the item, a plan for its present day.', { required: true }),
    updated_at: instant('When the state, the content or the attention last changed.', { required: true }),
    sent_at: instant('When the item was last sent.'),
    confirmed_at: instant('When the item was confirmed.'),
    seen_at: instant('When a read-back first showed the item; null until one does.'),
    told_at: instant(
      'When the ERP was notified of this state, by a call or a result file, or could not be, because its code is no longer stored; null before that.',
    ),
    revision: integer('Increases with every change.', { required: true }),
  },
  // The indexes that a run needs hold few rows. Each covers more columns of its query than any other index, because
  // SQLite chooses an index by that number.
  indexes: [
    { columns: ['kind', 'state', 'updated_at'], where: IS_NOT_CONFIRMED },
    { columns: ['kind', 'updated_at'], where: IS_CONFIRMED },
    { columns: ['kind', 'state'], where: IS_WATCHED },
    { columns: ['kind', 'seen_at'], where: IS_RESENT },
    { columns: ['kind', 'told_at', 'external_code', 'code_use'], where: 'told_at is null' },
    { columns: ['kind', 'attention'], where: 'attention is not null' },
    ['kind', 'period_start'],
    ['kind', 'period_end', 'external_code', 'code_use'],
    ['kind', 'remote_key'],
    ['kind', 'remote_id'],
  ],
});

export interface OutboxEntry extends RowOf<typeof pushOutbox> {
  state: OutboxState;
  attention: Attention | null;
}

export type EntryKey = Pick<OutboxEntry, 'kind' | 'external_code' | 'code_use'>;

export const keyOf = ({ kind, external_code, code_use }: EntryKey): EntryKey => ({
  kind,
  external_code,
  code_use,
});

/** The key as one text, for sets and maps. */
export const nameOf = ({ kind, external_code, code_use }: EntryKey): string =>
  JSON.stringify([kind, external_code, code_use]);

/** Key and period under which the service lists an item. While sent content may be at the service, these are the sent ones. */
export type Place = Pick<OutboxEntry, 'remote_key' | 'period_start' | 'period_end'>;

export const placeOf = ({ remote_key, period_start, period_end }: Place): Place => ({
  remote_key,
  period_start,
  period_end,
});

/** Some content was sent, and may have reached the service. */
export const wasSent = ({ sent_hash }: Pick<OutboxEntry, 'sent_hash'>): boolean => sent_hash !== null;

/** An earlier send may have reached the service, so only a conclusive listing may show that the item is absent. */
export const needsProof = (entry: Pick<OutboxEntry, 'state' | 'sent_hash'>): boolean =>
  entry.state === 'unknown' || (entry.state === 'ready' && wasSent(entry));

/** The ERP offers newer content that cannot be sent, whatever the service shows. */
export const hasUnusableContent = ({ attention }: OutboxEntry): boolean =>
  attention === 'read_error' || attention === 'invalid_change';

/** The service has other content than the ERP offers, and no call to change it: content that is to be sent has a payload. */
export const isChangedAfterPush = ({
  state,
  content_hash,
  sent_hash,
  payload,
}: Pick<OutboxEntry, 'state' | 'content_hash' | 'sent_hash' | 'payload'>): boolean =>
  state === 'confirmed' && content_hash !== sent_hash && payload === null;

/** The service rejected a part of a confirmed item, such as some stops of a plan: the reasons name them. */
export const isPartial = ({
  state,
  reasons,
  attention,
}: Pick<OutboxEntry, 'state' | 'reasons' | 'attention'>): boolean =>
  state === 'confirmed' && reasons !== null && attention === null;

export const reasonsOf = ({ reasons }: Pick<OutboxEntry, 'reasons'>): string[] =>
  reasons === null ? [] : (JSON.parse(reasons) as string[]);

export const reasonsText = (reasons: readonly string[]): string | null =>
  reasons.length === 0 ? null : JSON.stringify(reasons);

/**
 * The states in lists and filters: people see a confirmed entry as `partial` if the service did not take all of it, and as
 * `differs` if the service has other content than the ERP offers.
 */
export const SHOWN_STATES = [...OUTBOX_STATES, 'partial', 'differs'] as const;
export type ShownState = (typeof SHOWN_STATES)[number];

export function shownState(
  entry: Pick<OutboxEntry, 'state' | 'attention' | 'reasons' | 'content_hash' | 'sent_hash' | 'payload'>,
): ShownState {
  if (isPartial(entry)) return 'partial';
  return isChangedAfterPush(entry) && entry.attention === null ? 'differs' : entry.state;
}

/** As `shownState`. */
export const SHOWN_STATE = `case when state <> 'confirmed' or attention is not null then state
  when reasons is not null then 'partial'
  when content_hash is distinct from sent_hash and payload is null then 'differs' else state end`;

/** The stored state of entries that are shown in this one. */
export const storedState = (shown: ShownState): OutboxState =>
  shown === 'partial' || shown === 'differs' ? 'confirmed' : shown;

/** The entry without its payload and its clear code, which may contain tax numbers. */
export function shownEntry(entry: OutboxEntry) {
  const { payload: _payload, erp_code: _code, revision: _revision, ...shown } = entry;
  return {
    ...shown,
    shown_state: shownState(entry),
    changed_after_push: isChangedAfterPush(entry),
    is_partial: isPartial(entry),
    reasons: reasonsOf(entry),
  };
}
