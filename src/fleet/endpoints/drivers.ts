// GET /driver/: agents (is_deliveryman) or drivers.
import { z } from 'zod';
import { CNH_CATEGORIES } from '../../core/code-lists.ts';
import { listEndpoint } from '../endpoint.ts';
import { TEXT_INCLUDES } from '../interpretations.ts';
import { anyIncludes, listedId, nonEmptyText, recordId } from '../request-fields.ts';
import { object } from '../wire.ts';

export const drivers = listEndpoint({
  name: 'drivers',
  path: '/driver/',
  query: z.strictObject({
    cpf: nonEmptyText.optional(),
    id: recordId.optional(),
    name: nonEmptyText.optional(),
    is_deliveryman: z.boolean().default(true),
    identifier: nonEmptyText.optional(),
    company_registry: nonEmptyText.optional(),
    /** The service's own default is department, cost_center and work_shift. */
    includes: anyIncludes.optional(),
    cnh_category_id: listedId(CNH_CATEGORIES).optional(),
  }),
  forms: TEXT_INCLUDES,
  fields: { work_shift: object({}), cnh_category: object({}) },
});
