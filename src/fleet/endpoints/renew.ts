// POST /auth/token/: returns a new access token. No payload is documented; the body is for the renewal mode that sends the
// refresh token in it. Sending it twice does no harm, so it is a read.
import type { Endpoint } from '../endpoint.ts';
import { refreshAsSent } from '../readings.ts';
import { readTokens, type Tokens } from '../session/tokens.ts';

export interface Renewal {
  /** Only in the mode `body`. */
  refreshToken?: string;
}

export const renew: Endpoint<Renewal, Tokens> = {
  name: 'renew',
  kind: 'read',
  method: 'POST',
  path: '/auth/token/',
  prepare: ({ refreshToken }) => ({
    method: 'POST',
    path: '/auth/token/',
    query: '',
    ...(refreshToken === undefined ? {} : { body: JSON.stringify(refreshAsSent(refreshToken)) }),
  }),
  read: readTokens,
};
