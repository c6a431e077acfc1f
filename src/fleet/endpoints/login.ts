// POST /auth/login/: the four credentials for a token pair. Sending it twice does no harm, so it counts as a read.
import { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { checkRequest } from '../request-check.ts';
import { word } from '../request-fields.ts';
import { readTokens, type Tokens } from '../session/tokens.ts';

const credentials = z.strictObject({ username: word, parent_username: word, password: word, realm: word });

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
