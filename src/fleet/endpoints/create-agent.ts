// POST /driver/: a new agent. Which fields are required is not documented: without a name nobody can tell who
// it is. The flag is sent inside and beside the data, as documented.
import { z } from 'zod';
import { readWritten, writeEndpoint } from '../endpoint.ts';
import { word } from '../request-fields.ts';

export const createAgent = writeEndpoint({
  name: 'create-agent',
  method: 'POST',
  path: '/driver/',
  request: z.strictObject({
    name: word,
    cpf: word.optional(),
    company_registry: word.optional(),
    rg: word.optional(),
    email: word.optional(),
    phone_number: word.optional(),
    is_deliveryman: z.boolean().default(true),
  }),
  body: (data) => ({ data, is_deliveryman: data.is_deliveryman }),
  read: readWritten,
});
