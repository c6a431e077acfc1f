// POST /auth/login/: exchanges the four credentials for a token pair. Sending it twice does no harm, so it is a read.
import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { nonEmptyText } from '../request-fields.ts';
import { readTokens } from '../session/tokens.ts';

export const login = defineEndpoint({
  name: 'login',
  kind: 'read',
  method: 'POST',
  path: '/auth/login/',
  request: z.strictObject({
    username: nonEmptyText,
    parent_username: nonEmptyText,
    password: nonEmptyText,
    realm: nonEmptyText,
  }),
  read: readTokens,
});
