// GET /driver/: agents (is_deliveryman) or drivers.
import { z } from 'zod';
import { CNH_CATEGORIES } from '../../core/code-lists.ts';
import { listEndpoint } from '../endpoint.ts';
import { TEXT_INCLUDES } from '../readings.ts';
import { anyIncludes, idOfList, recordId, word } from '../request-fields.ts';
import { day, flag, id, instant, integer, object, text } from '../wire.ts';

export const drivers = listEndpoint({
  name: 'drivers',
  path: '/driver/',
  query: z.strictObject({
    cpf: word.optional(),
    id: recordId.optional(),
    name: word.optional(),
    is_deliveryman: z.boolean().default(true),
    identifier: word.optional(),
    company_registry: word.optional(),
    /** The service's own default is department, cost_center and work_shift. */
    includes: anyIncludes.optional(),
    cnh_category_id: idOfList(CNH_CATEGORIES).optional(),
  }),
  forms: TEXT_INCLUDES,
  record: z.looseObject({
    id,
    name: text,
    cpf: text,
    rg: text,
    company_registry: text,
    email: text,
    phone_number: text,
    is_deliveryman: flag,
    identifier: text,
    customer_id: integer,
    user_id: integer,
    department_id: integer,
    department: object({ external_code: text, name: text, id: integer }),
    cost_center_id: integer,
    cost_center: object({ name: text, id: integer }),
    work_shift_id: integer,
    work_shift: object({}),
    point_of_interest_id: integer,
    state_id: integer,
    cnh_category_id: integer,
    cnh_category: object({}),
    cnh_number: text,
    cnh_date: day,
    first_cnh_date: day,
    toxicology_expiration: day,
    date_of_birth: day,
    date_created: instant,
    neighborhood: text,
    number: text,
    cep: text,
  }),
});
