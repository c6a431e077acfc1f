// GET /checklist_form_field_executed/: the answers of one checklist execution, field by field.
import { z } from 'zod';
import { listEndpoint } from '../endpoint.ts';
import { includesOf, recordId } from '../request-fields.ts';
import { integer, list, text } from '../wire.ts';

export const checklistAnswers = listEndpoint({
  name: 'checklist-answers',
  path: '/checklist_form_field_executed/',
  query: z.strictObject({
    /** The id of the execution. */
    id: recordId,
    includes: includesOf(['checklist_form_field', 'checklist_form_field.table', 'checklist_form_field.table.items'])
      .min(1)
      .default(['checklist_form_field']),
  }),
  fields: {
    'checklist_form_field.table.items': list(z.looseObject({ id: integer, name: text, risk_level: text })),
  },
});
