// POST /auth/token/: returns a new access token. No payload is documented; the body is for the renewal mode that sends the
// refresh token in it. Sending it twice does no harm, so it is a read.
import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { refreshAsSent } from '../interpretations.ts';
import { readTokens } from '../session/tokens.ts';

export const renew = defineEndpoint({
  name: 'renew',
  kind: 'read',
  method: 'POST',
  path: '/auth/token/',
  /** Only in the mode `body`. */
  request: z.strictObject({ refreshToken: z.string().optional() }),
  body: ({ refreshToken }) => (refreshToken === undefined ? undefined : refreshAsSent(refreshToken)),
  read: readTokens,
});
