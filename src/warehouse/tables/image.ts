// One row per picture that a record refers to. A row gets its `file` only once the file is in place, so that BI never
// follows a path to a missing file.
import { baseTable, instant, integer, text } from '../schema/table.ts';

export const image = baseTable({
  name: 'image',
  meaning: 'Pictures and signatures, with their files.',
  source: 'GET /checklist/picture/',
  key: ['hash'],
  columns: {
    hash: text('Name of the picture in checklist.signature and checklist_answer.picture.', { added: true }),
    sha256: text('Our own digest of the content; equal pictures share it and its file.', { added: true }),
    file: text('Path of the file below the images folder; null if there is none.', { added: true }),
    bytes: integer('Size of the file in bytes.', { added: true }),
    content_type: text('Content type, detected from the first bytes; null if unknown.', { added: true }),
    fetched_at: instant('When the picture was last requested.', { required: true, added: true, ignoreInDiff: true }),
    error: text('Why there is no file, in one word; null if there is one.', { added: true }),
    attempts: integer('How often the picture was requested; counts anew once the service answers again.', {
      required: true,
      added: true,
    }),
  },
  indexes: [['error']],
});
