// GET /checklist/: summaries of checklist executions in a period.
import { z } from 'zod';
import { listEndpoint } from '../endpoint.ts';
import { anyIncludes, moment, periodRule, recordIds, withRules } from '../request-fields.ts';
import { decimal, id, instant, integer, list, object, text } from '../wire.ts';

export const checklistRecord = z.looseObject({
  id,
  checklist_form_id: integer,
  checklist_form: object({ id: integer, name: text, icon: text }),
  user_id: integer,
  user: object({ id: integer, name: text }),
  customer_id: integer,
  date_executed: instant,
  date_created: instant,
  latitude: decimal,
  longitude: decimal,
  count_items: integer,
  count_high_risk: integer,
  count_medium_risk: integer,
  count_low_risk: integer,
  receipt_email: text,
  identifier_fields: list(z.looseObject({ value: text, form_field_id: integer, form_field_name: text })),
  signature: text,
  executed: list(z.unknown()),
});

export const checklists = listEndpoint({
  name: 'checklists',
  path: '/checklist/',
  query: withRules(
    z.strictObject({
      date_time_start: moment,
      date_time_end: moment,
      /** Of the execution. */
      checklist_code: z.int().optional(),
      user_ids: recordIds.optional(),
      /** The service's own default is user and checklist_form. */
      includes: anyIncludes.optional(),
    }),
    periodRule('date_time_start', 'date_time_end'),
  ),
  record: checklistRecord,
});
