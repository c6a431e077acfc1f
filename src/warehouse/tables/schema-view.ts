// The digest of each view's query, so that a start replaces only views that have changed.
import { controlTable, text } from '../schema/table.ts';

export const schemaView = controlTable({
  name: 'schema_view',
  meaning: 'The views that exist, with the digest of their queries.',
  key: ['name'],
  columns: {
    name: text('Name of the view.'),
    hash: text('Digest of the query of the view.', { required: true }),
  },
});
