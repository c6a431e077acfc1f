// GET /checklist/picture/: the bytes of one picture of a checklist, identified by its hash.
import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { readPicture } from '../picture.ts';
import { nonEmptyText } from '../request-fields.ts';

export const checklistPicture = defineEndpoint({
  name: 'checklist-picture',
  kind: 'read',
  method: 'GET',
  path: '/checklist/picture/',
  request: z.strictObject({ picture: nonEmptyText }),
  read: readPicture,
});
