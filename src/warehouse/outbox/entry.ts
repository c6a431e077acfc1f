// The outbox: one row for each item that the ERP wants pushed. This file declares the table, the entry as code sees
// it, and what people and scripts may see of an entry. Only transitions.ts changes the state of an entry.
import { controlTable, instant, integer, json, text } from '../schema/table.ts';

export const OUTBOX_STATES = ['ready', 'sending', 'unknown', 'confirmed', 'rejected', 'cancelled'] as const;
export type OutboxState = (typeof OUTBOX_STATES)[number];

/** Why a person has to look at an entry; the same words are the codes of a run's failures. */
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

/** Conditions of the indexes, which a query has to repeat to the letter. */
export const IS_OPEN = "state <> 'confirmed'";
export const IS_CONFIRMED = "state = 'confirmed'";
/** Confirmed entries that are read back: not shown yet, still being optimised, or in need of a person. */
export const IS_WATCHED =
  "state = 'confirmed' and (seen_at is null or attention is not null or (kind = 'route_plans' and remote_status in ('W', 'R')))";

export const pushOutbox = controlTable({
  name: 'push_outbox',
  meaning: 'Every item that the ERP wants pushed: its state, and why.',
  key: ['kind', 'external_code', 'code_use'],
  columns: {
    kind: text('Feed of the item: route_plans, points_of_interest, agents or itineraries.'),
    external_code: text("The ERP's code of the item; a digest where that is a tax number."),
    code_use: integer('Which use of the code this is, from 1: some ERPs use a route number every day.', {
      default: 1,
    }),
    erp_code: text(
      'The code in clear where external_code is a digest, while the ERP may have to be notified.',
      {
        personal: true,
      },
    ),
    origin: text('Where the ERP offered it: file and row, or row of the query.'),
    state: text('ready, sending, unknown, confirmed, rejected or cancelled.', { required: true }),
    attention: text(`Why a person has to look: ${ATTENTION.join(', ')}; null where nobody has to.`),
    message: text('The state in plain words.'),
    reasons: json('What was rejected and why, a list of sentences.'),
    content_hash: text('Digest of the content that the ERP offered last; empty where it could not be read.', {
      required: true,
    }),
    sent_hash: text(
      'Digest of the content that was sent last; null where none was, empty where it is not known.',
    ),
    payload: json('The content to send; null once it need not be sent again.', { personal: true }),
    remote_id: integer('Identifier at the service; null until it is known.'),
    remote_key: text('By what it is found at the service; a digest where that is a tax number.', {
      required: true,
    }),
    remote_status: text('Status at the service at the last read-back.'),
    period_start: instant('Start of what was sent, or is to be sent.'),
    period_end: instant('End of what was sent, or is to be sent.'),
    attempts: integer('How often a send was begun.', { required: true }),
    unclear_sends: integer('How many sends in a row had no clear outcome.', { required: true }),
    next_attempt_at: instant('Not sent or read back before this instant; null for at once.'),
    unknown_since: instant('Since when its outcome is not known.'),
    absent_since: instant("Since when no read-back shows it, by the service's clock."),
    created_at: instant('When the ERP first offered it.', { required: true }),
    updated_at: instant('When its state or content last changed.', { required: true }),
    sent_at: instant('When it was last sent.'),
    confirmed_at: instant('When it was confirmed.'),
    seen_at: instant('When a read-back first showed it; null while none did.'),
    told_at: instant(
      'When the ERP was notified of this state, or that was left to the result of its file; null while neither.',
    ),
    revision: integer('Grows with every change.', { required: true }),
  },
  // Each that a run needs is of few rows, and has more columns that a query names than any other: SQLite counts those.
  indexes: [
    { columns: ['kind', 'state', 'updated_at'], where: IS_OPEN },
    { columns: ['kind', 'updated_at'], where: IS_CONFIRMED },
    { columns: ['kind', 'state'], where: IS_WATCHED },
    { columns: ['kind', 'told_at', 'external_code', 'code_use'], where: 'told_at is null' },
    { columns: ['kind', 'attention'], where: 'attention is not null' },
    ['kind', 'period_start'],
    ['kind', 'period_end', 'external_code', 'code_use'],
    ['kind', 'remote_key'],
    ['kind', 'remote_id'],
  ],
});

export interface EntryKey {
  kind: string;
  external_code: string;
  code_use: number;
}

export interface OutboxEntry extends EntryKey {
  erp_code: string | null;
  origin: string | null;
  state: OutboxState;
  attention: Attention | null;
  message: string | null;
  /** JSON list of sentences. */
  reasons: string | null;
  content_hash: string;
  sent_hash: string | null;
  /** JSON of what is sent. */
  payload: string | null;
  remote_id: number | null;
  remote_key: string;
  remote_status: string | null;
  period_start: string | null;
  period_end: string | null;
  attempts: number;
  unclear_sends: number;
  next_attempt_at: string | null;
  unknown_since: string | null;
  absent_since: string | null;
  created_at: string;
  updated_at: string;
  sent_at: string | null;
  confirmed_at: string | null;
  seen_at: string | null;
  told_at: string | null;
  revision: number;
}

export const keyOf = ({ kind, external_code, code_use }: EntryKey): EntryKey => ({
  kind,
  external_code,
  code_use,
});

/** The key as one text, for sets and maps. */
export const nameOf = ({ kind, external_code, code_use }: EntryKey): string =>
  JSON.stringify([kind, external_code, code_use]);

/** By what and when the service lists an item; an entry has those of what was sent, while that may be at the service. */
export type Place = Pick<OutboxEntry, 'remote_key' | 'period_start' | 'period_end'>;

export const placeOf = ({ remote_key, period_start, period_end }: Place): Place => ({
  remote_key,
  period_start,
  period_end,
});

/** Some content of it was sent, and did not certainly miss the service. */
export const wasSent = ({ sent_hash }: Pick<OutboxEntry, 'sent_hash'>): boolean => sent_hash !== null;

/** An earlier send may have reached the service, so a listing that proves nothing is not enough. */
export const needsProof = (entry: Pick<OutboxEntry, 'state' | 'sent_hash'>): boolean =>
  entry.state === 'unknown' || (entry.state === 'ready' && wasSent(entry));

/** The ERP has a newer content that cannot be sent; nothing that the service shows changes that. */
export const hasUnusableContent = ({ attention }: OutboxEntry): boolean =>
  attention === 'read_error' || attention === 'invalid_change';

/** The ERP offered another content after the service had the item. */
export const isChangedAfterPush = ({ state, content_hash, sent_hash }: OutboxEntry): boolean =>
  state === 'confirmed' && content_hash !== sent_hash;

export const reasonsOf = ({ reasons }: Pick<OutboxEntry, 'reasons'>): string[] =>
  reasons === null ? [] : (JSON.parse(reasons) as string[]);

export const reasonsText = (reasons: readonly string[]): string | null =>
  reasons.length === 0 ? null : JSON.stringify(reasons);

export type ShownEntry = Omit<OutboxEntry, 'payload' | 'erp_code' | 'reasons' | 'revision'> & {
  changed_after_push: boolean;
  reasons: string[];
};

/** An entry without its payload and its clear code, which may hold tax numbers. */
export function shownEntry(entry: OutboxEntry): ShownEntry {
  const { payload: _payload, erp_code: _code, revision: _revision, ...shown } = entry;
  return { ...shown, changed_after_push: isChangedAfterPush(entry), reasons: reasonsOf(entry) };
}
