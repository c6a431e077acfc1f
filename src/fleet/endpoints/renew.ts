// POST /auth/token/: a new access token. No payload is documented; the body is there for the reading that the
// refresh token is sent in it. Sending it twice does no harm, so it counts as a read.
import type { Endpoint } from '../endpoint.ts';
import { refreshAsSent } from '../readings.ts';
import { readTokens, type Tokens } from '../session/tokens.ts';

export interface Renewal {
  /** Only where the refresh token goes into the body. */
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
