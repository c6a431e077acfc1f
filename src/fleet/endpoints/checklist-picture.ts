// GET /checklist/picture/: the bytes of one picture of a checklist, identified by its hash.
import { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { type Picture, readPicture } from '../picture.ts';
import { encodeQuery } from '../query.ts';
import { checkRequest } from '../request-check.ts';
import { nonEmptyText } from '../request-fields.ts';

const query = z.strictObject({ picture: nonEmptyText });

export const checklistPicture: Endpoint<z.input<typeof query>, Picture> = {
  name: 'checklist-picture',
  kind: 'read',
  method: 'GET',
  path: '/checklist/picture/',
  prepare: (request, collections) => ({
    method: 'GET',
    path: '/checklist/picture/',
    query: encodeQuery(checkRequest('checklist-picture', query, request), collections),
  }),
  read: readPicture,
};
