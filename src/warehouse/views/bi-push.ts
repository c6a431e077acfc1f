// One row for each item that the ERP wanted pushed: its state and how long it took. The content is not in it.

import { pushOutbox } from '../outbox/entry.ts';
import { boolean, integer, text, view } from '../schema/view.ts';
import { atAndLocal } from './shared/local-columns.ts';

export const biPush = view({
  name: 'bi_push',
  meaning: 'One row for each item that the ERP wanted pushed: state, reason, attempts and how long it took.',
  key: ['kind', 'code', 'code_use'],
  tables: { entry: pushOutbox },
  columns: {
    kind: text('route_plans, points_of_interest, agents or itineraries.', 'entry.kind'),
    code: text('What the ERP calls it; a digest where that is a tax number.', 'entry.external_code'),
    state: text('ready, sending, unknown, confirmed, rejected or cancelled.', 'entry.state'),
    is_confirmed: boolean('True once the service has it.', `(entry.state = 'confirmed')`),
    needs_attention: boolean(
      'True where it was rejected, its outcome is not known, the ERP changed it after the service had it, or a person has to look.',
      `(entry.state in ('unknown', 'rejected') or entry.attention is not null
      or (entry.state = 'confirmed' and entry.content_hash is distinct from entry.sent_hash))`,
    ),
    message: text('The state in plain words.', 'entry.message'),
    remote_id: integer('Identifier at the service, such as bi_route_plan.plan_id.', 'entry.remote_id'),
    remote_status: text('Status at the service when it was last looked at.', 'entry.remote_status'),
    ...atAndLocal('created', 'the ERP first gave it', 'entry.created_at'),
    ...atAndLocal('sent', 'it was last sent', 'entry.sent_at'),
    ...atAndLocal('confirmed', 'it was confirmed', 'entry.confirmed_at'),
    ...atAndLocal('told', 'the ERP was told this state; null while it was not', 'entry.told_at'),
    seconds_to_confirm: integer('Seconds from the ERP to the confirmation.', ({ secondsBetween }) =>
      secondsBetween('entry.created_at', 'entry.confirmed_at'),
    ),
    attempts: integer('How often a send was begun.', 'entry.attempts'),
    unclear_sends: integer('How many sends had no clear outcome.', 'entry.unclear_sends'),
    last_error_code: text(
      'Stable word for the last failure; null where none failed.',
      `(select failed.error_code from push_attempt as failed where failed.kind = entry.kind
      and failed.external_code = entry.external_code and failed.code_use = entry.code_use and failed.error_code is not null
      order by failed.number desc limit 1)`,
    ),
    origin: text('Where the ERP offered it: file and row, or row of the query.', 'entry.origin'),
    code_use: integer('Which use of the code this is, from 1.', 'entry.code_use'),
    attention: text('Why a person has to look; null where nobody has to.', 'entry.attention'),
  },
  from: 'from push_outbox as entry',
});
