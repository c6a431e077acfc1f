// POST /auth/login/: exchanges the four credentials for a token pair. Sending it twice does no harm, so it is a read.
import { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { checkRequest } from '../request-check.ts';
import { nonEmptyText } from '../request-fields.ts';
import { readTokens, type Tokens } from '../session/tokens.ts';

const credentials = z.strictObject({
  username: nonEmptyText,
  parent_username: nonEmptyText,
  password: nonEmptyText,
  realm: nonEmptyText,
});

export const login: Endpoint<z.input<typeof credentials>, Tokens> = {
  name: 'login',
  kind: 'read',
  method: 'POST',
  path: '/auth/login/',
  prepare: (request) => ({
    method: 'POST',
    path: '/auth/login/',
    query: '',
    body: JSON.stringify(checkRequest('login', credentials, request)),
  }),
  read: readTokens,
};
