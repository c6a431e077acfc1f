// One row a picture that records name. A row with a `file` is written only once the file is in place, so BI
// never follows a name to nothing.
import { baseTable, instant, integer, text } from '../schema/table.ts';

export const image = baseTable({
  name: 'image',
  meaning: 'Pictures and signatures, with the files they are kept in.',
  source: 'GET /checklist/picture/',
  key: ['hash'],
  columns: {
    hash: text('Name of the picture in checklist.signature and checklist_answer.picture.', { added: true }),
    sha256: text('Our own digest of the content; equal pictures share it and its file.', { added: true }),
    file: text('Path of the file below the images folder; null where there is none.', { added: true }),
    bytes: integer('Size of the file.', { added: true }),
    content_type: text('Type told by the first bytes; null where they tell none.', { added: true }),
    fetched_at: instant('When it was last asked for.', { required: true, added: true, ignoreInDiff: true }),
    error: text('Why there is no file, in one word; null where there is one.', { added: true }),
    attempts: integer('How often it was asked for.', { required: true, added: true }),
  },
  indexes: [['error']],
});
