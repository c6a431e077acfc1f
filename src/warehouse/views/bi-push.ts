// One row for each item that the ERP wants pushed: its state and duration, without the content.
import { pushOutbox, SHOWN_STATE } from '../outbox/entry.ts';
import { boolean, integer, text, view } from '../schema/view.ts';
import { atAndLocal } from './shared/local-columns.ts';

export const biPush = view({
  name: 'bi_push',
  meaning: 'One row for each item that the ERP wants pushed: state, reason, attempts and duration.',
  key: ['kind', 'code', 'code_use'],
  tables: { entry: pushOutbox },
  columns: {
    kind: text('route_plans, points_of_interest, agents or itineraries.', 'entry.kind'),
    code: text("The ERP's code of the item; a digest if the code is a tax number.", 'entry.external_code'),
    state: text('ready, sending, unknown, confirmed, rejected or cancelled.', 'entry.state'),
    is_confirmed: boolean('True once the service has confirmed the item.', `(entry.state = 'confirmed')`),
    needs_attention: boolean(
      'True if the item was rejected or is partial (without some of its stops), its outcome is unknown, the ERP changed it after it was confirmed, or it needs a person.',
      `(entry.state in ('unknown', 'rejected') or entry.attention is not null or ${SHOWN_STATE} in ('partial', 'differs'))`,
    ),
    message: text('The state in plain words.', 'entry.message'),
    remote_id: integer('Identifier at the service, such as bi_route_plan.plan_id.', 'entry.remote_id'),
    remote_status: text('Status at the service at the last read-back.', 'entry.remote_status'),
    ...atAndLocal('created', 'the ERP first offered the item, a plan for its present day', 'entry.created_at'),
    ...atAndLocal('sent', 'the item was last sent', 'entry.sent_at'),
    ...atAndLocal('confirmed', 'the item was confirmed', 'entry.confirmed_at'),
    ...atAndLocal('told', 'the ERP was notified of this state; null before that', 'entry.told_at'),
    seconds_to_confirm: integer('Seconds from the first offer to the confirmation.', ({ secondsBetween }) =>
      secondsBetween('entry.created_at', 'entry.confirmed_at'),
    ),
    attempts: integer('Number of sends that were begun.', 'entry.attempts'),
    unclear_sends: integer('Number of consecutive sends without a clear outcome.', 'entry.unclear_sends'),
    last_error_code: text(
      'Stable code of the last failure; null if there was none.',
      `(select failed.error_code from push_attempt as failed where failed.kind = entry.kind
      and failed.external_code = entry.external_code and failed.code_use = entry.code_use and failed.error_code is not null
      order by failed.number desc limit 1)`,
    ),
    origin: text('Where the ERP offered the item: file and row, or row of the query.', 'entry.origin'),
    code_use: integer('Which use of the code this is, from 1.', 'entry.code_use'),
    attention: text('Why the entry needs a person; null if it does not.', 'entry.attention'),
  },
  from: 'from push_outbox as entry',
});
