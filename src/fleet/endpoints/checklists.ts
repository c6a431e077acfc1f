// GET /checklist/: summaries of checklist executions in a period.
import { z } from 'zod';
import { withRules } from '../../core/field-rules.ts';
import { listEndpoint } from '../endpoint.ts';
import { anyIncludes, dateTime, periodRule, recordIds } from '../request-fields.ts';
import { integer, list, text } from '../wire.ts';

export const checklists = listEndpoint({
  name: 'checklists',
  path: '/checklist/',
  query: withRules(
    z.strictObject({
      date_time_start: dateTime,
      date_time_end: dateTime,
      /** The code of the execution. */
      checklist_code: z.int().optional(),
      user_ids: recordIds.optional(),
      /** The service's own default is user and checklist_form. */
      includes: anyIncludes.optional(),
    }),
    periodRule('date_time_start', 'date_time_end'),
  ),
  fields: {
    identifier_fields: list(z.looseObject({ value: text, form_field_id: integer, form_field_name: text })),
    executed: list(z.unknown()),
  },
});
