// Small facts that have to outlive the process, such as how the token is renewed.
import { controlTable, instant, json, text } from '../schema/table.ts';

export const syncState = controlTable({
  name: 'sync_state',
  meaning: 'Facts learned at run time that outlive the process.',
  key: ['name'],
  columns: {
    name: text('What the fact is about.'),
    value: json('The fact.', { required: true }),
    updated_at: instant('When it was learned.', { required: true }),
  },
});
