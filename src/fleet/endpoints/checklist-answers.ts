// GET /checklist_form_field_executed/: the answers of one checklist execution, field by field.
import { z } from 'zod';
import { listEndpoint } from '../endpoint.ts';
import { includesOf, recordId } from '../request-fields.ts';
import { flag, id, instant, integer, list, object, text } from '../wire.ts';

const table = object({
  id: integer,
  customer_id: integer,
  name: text,
  date_created: instant,
  items: list(z.looseObject({ id: integer, name: text, risk_level: text })),
});

export const checklistAnswers = listEndpoint({
  name: 'checklist-answers',
  path: '/checklist_form_field_executed/',
  query: z.strictObject({
    /** Of the execution. */
    id: recordId,
    includes: includesOf([
      'checklist_form_field',
      'checklist_form_field.table',
      'checklist_form_field.table.items',
    ])
      .min(1)
      .default(['checklist_form_field']),
  }),
  record: z.looseObject({
    id,
    checklist_id: integer,
    value: text,
    risk_level: text,
    picture: text,
    checklist_form_field: object({
      id: integer,
      name: text,
      type: text,
      order: integer,
      can_photo: flag,
      can_additional_data: flag,
      table,
    }),
  }),
});
