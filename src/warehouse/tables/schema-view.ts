// Which text each view was made from, so that a start makes anew only what has changed.
import { controlTable, text } from '../schema/table.ts';

export const schemaView = controlTable({
  name: 'schema_view',
  meaning: 'The views that were made, and from which text.',
  key: ['name'],
  columns: {
    name: text('Name of the view.'),
    hash: text('Digest of its query.', { required: true }),
  },
});
