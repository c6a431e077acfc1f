// Stores which job fills which table, because the view bi_freshness cannot read the configuration. Written only if it differs.
import type { Engine } from '../engine.ts';
import { controlTable, integer, text } from '../schema/table.ts';

export const tableJob = controlTable({
  name: 'table_job',
  meaning: 'Which job fills which table, and which coverage scopes determine the freshness of the table.',
  key: ['table_name', 'job'],
  columns: {
    table_name: text('Name of the table.'),
    job: text('Name of the job.'),
    scopes: text('Pattern (LIKE) of the scopes in sync_coverage that the job reads with its current settings.', {
      required: true,
    }),
    vehicle_scope: text('The scope of one vehicle, `%` for its id; null if the job does not read by vehicle.'),
    driver_scope: text(
      'The scope of the drivers of one vehicle, `%` for its id; null if the job does not read by driver.',
    ),
    reread_seconds: integer('How long after its end the job still reads a day again; null if it does not read days.'),
  },
});

export type TableJob = Record<'table_name' | 'job' | 'scopes', string> &
  Record<'vehicle_scope' | 'driver_scope', string | null> & { reread_seconds?: number | null };

export async function fillTableJobs(engine: Engine, wanted: readonly TableJob[]): Promise<void> {
  const stored: TableJob[] = await engine.read((sql) => sql('table_job').select(...COLUMNS));
  if (sortedText(stored) === sortedText(wanted)) return;
  await engine.write(async ({ sql }) => {
    await sql('table_job').delete();
    for (const row of wanted) await sql('table_job').insert(row);
  });
}

const COLUMNS = ['table_name', 'job', 'scopes', 'vehicle_scope', 'driver_scope', 'reread_seconds'] as const;

const sortedText = (rows: readonly TableJob[]): string =>
  JSON.stringify(rows.map((row) => COLUMNS.map((column) => row[column]).join('\n')).sort());
