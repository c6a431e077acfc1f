// Until when retention has deleted rows. Their days stay read, so the views leave them out: what
// remains of such a day is not the whole of it.
import type { Engine } from '../engine.ts';
import { controlTable, instant, text } from '../schema/table.ts';

export const syncRetention = controlTable({
  name: 'sync_retention',
  meaning: 'Until when the rows of each table were deleted because of their age.',
  key: ['table_name'],
  columns: {
    table_name: text('Name of the table.'),
    deleted_before: instant('Rows before this instant were deleted; it never moves back.', { required: true }),
  },
});

export const noteDeletion = (engine: Engine, table_name: string, deleted_before: string): Promise<void> =>
  engine.write(async ({ sql }) => {
    const { name } = syncRetention;
    await sql(name)
      .insert({ table_name, deleted_before })
      .onConflict('table_name')
      .merge()
      .where(`${name}.deleted_before`, '<', deleted_before);
  });
