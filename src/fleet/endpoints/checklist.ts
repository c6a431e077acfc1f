// GET /checklist/<id>: the summary of one checklist execution, as a list of one.
import { z } from 'zod';
import { listEndpoint } from '../endpoint.ts';
import { recordId } from '../request-fields.ts';

export const checklist = listEndpoint({
  name: 'checklist',
  path: '/checklist/<id>',
  query: z.strictObject({ id: recordId }),
});
