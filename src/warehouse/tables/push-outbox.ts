// One row a thing to push, with its state. The payload may hold tax numbers: it is kept only while it may have to
// be sent, and leaves in the transaction that makes the entry confirmed or cancelled.
import { boolean, controlTable, instant, integer, json, text } from '../table.ts';

export const pushOutbox = controlTable({
  name: 'push_outbox',
  meaning: 'Everything the ERP wants pushed: what became of it, and why.',
  key: ['kind', 'external_code'],
  columns: {
    kind: text('Feed it belongs to: route_plans, points_of_interest, agents or itineraries.'),
    external_code: text('What the ERP calls it; a digest where that is a tax number.'),
    state: text('ready, sending, unknown, confirmed, rejected or cancelled.', { required: true }),
    content_hash: text('Digest of the content the ERP gave last.', { required: true }),
    sent_hash: text('Digest of what was sent last under this key; null where nothing was.'),
    noted_hash: text(
      'Digest of a content that the ERP gave since and that breaks the rules; null where there is none.',
    ),
    remote_id: integer('Identifier at the service; null until it is known.'),
    remote_key: text('By what it is found at the service; a digest where that is a tax number.', {
      required: true,
    }),
    message: text('The state in plain words.'),
    reasons: json('What was refused and why, a list of sentences.'),
    payload: json('What is to be sent; null once it need not be sent again.', { personal: true }),
    erp_code: text(
      'The code in clear where external_code is a digest, as long as the ERP may have to be told.',
      {
        personal: true,
      },
    ),
    origin: text('Where the ERP gave it: file and row, or row of the query.'),
    batch: text('File or feed it came with.'),
    period_start: instant('Start of what it plans, for the search at the service.'),
    period_end: instant('End of what it plans.'),
    is_async: boolean('The service optimises the plan after it has accepted it.'),
    remote_status: text('Status at the service when it was last looked at.'),
    is_watched: boolean('A search has yet to show it, or the end of its optimisation is awaited.'),
    changed_after_push: boolean('The ERP changed it after the service had it, and no call can change it.'),
    uncoded_stops: integer(
      'Stops with an outcome that cannot be returned, since they have no external_code; null before one was met.',
    ),
    attempts: integer('How often a send was begun.', { required: true }),
    unclear_sends: integer('How many sends had no clear outcome.', { required: true }),
    is_doubtful: boolean('An answer turned it away that may have come after it was done.'),
    next_attempt_at: instant('Not sent before this instant; null for at once.'),
    unknown_since: instant('Since when its outcome is not known.'),
    absent_since: instant('Since when every search did not find it.'),
    absent_since_there: instant("The same by the service's clock; null where its answers tell no time."),
    checked_run_id: text('The run that has searched the service for it.'),
    owner_run_id: text('The run that is sending it.'),
    created_at: instant('When the ERP first gave it.', { required: true }),
    updated_at: instant('When anything about it last changed.', { required: true }),
    sent_at: instant('When it was last sent.'),
    confirmed_at: instant('When it was confirmed.'),
    seen_at: instant('When a search first showed it; null while none did.'),
    told_at: instant('When the ERP was told this state; null while it was not.'),
    revision: integer('Grows with every change.', { required: true }),
  },
  indexes: [
    // In the order in which entries are claimed: the first one is found without sorting the others.
    ['kind', 'state', 'period_start', 'external_code'],
    ['kind', 'told_at'],
    ['kind', 'remote_id'],
    ['state', 'unknown_since'],
  ],
});
