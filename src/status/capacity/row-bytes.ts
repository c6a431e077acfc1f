// Bytes of a row on the disk, including its share of the indexes. Measured on the data of a sandbox with 250 vehicles
// over 14 days (node test/support/row-bytes.ts 250 14). A test measures a sample again.

const MEASURED: Readonly<Record<string, { sqlite: number; postgres: number }>> = {
  checklist: { sqlite: 520, postgres: 630 },
  checklist_answer: { sqlite: 460, postgres: 590 },
  daily_summary: { sqlite: 270, postgres: 430 },
  event: { sqlite: 440, postgres: 450 },
  image: { sqlite: 450, postgres: 560 },
  route_plan: { sqlite: 450, postgres: 480 },
  route_point: { sqlite: 330, postgres: 360 },
  route_point_execution: { sqlite: 330, postgres: 300 },
  route_point_item: { sqlite: 140, postgres: 190 },
  status_change: { sqlite: 170, postgres: 180 },
};

/** An engine without a measurement counts as PostgreSQL, which needs the most. */
export const rowBytes = (engine: string, table: string): number =>
  MEASURED[table]?.[engine === 'sqlite' ? 'sqlite' : 'postgres'] ?? 0;
