// POST /driver/: creates an agent. is_deliveryman is sent inside the data and beside it, as documented.
import { z } from 'zod';
import { readWritten, writeEndpoint } from '../endpoint.ts';
import { itemData } from '../request-fields.ts';

export const createAgent = writeEndpoint({
  name: 'create-agent',
  method: 'POST',
  path: '/driver/',
  request: z.strictObject({ data: itemData }),
  body({ data }) {
    const { is_deliveryman = true } = data;
    return { data: { ...data, is_deliveryman }, is_deliveryman };
  },
  read: readWritten,
});
