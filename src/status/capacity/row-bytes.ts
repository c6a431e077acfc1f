// Bytes of a row on the disk, including its share of the indexes. Measured on the data of a sandbox with 250 vehicles
// over 14 days (node test/support/row-bytes.ts 250 14). A test measures a sample again.

const MEASURED: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  sqlite: {
    checklist: 520,
    checklist_answer: 460,
    daily_summary: 270,
    event: 440,
    image: 450,
    route_plan: 450,
    route_point: 330,
    route_point_execution: 330,
    route_point_item: 140,
    status_change: 170,
  },
  postgres: {
    checklist: 630,
    checklist_answer: 590,
    daily_summary: 430,
    event: 450,
    image: 560,
    route_plan: 480,
    route_point: 360,
    route_point_execution: 300,
    route_point_item: 190,
    status_change: 180,
  },
};

/** An engine without a measurement counts as PostgreSQL, which needs the most. */
export const rowBytes = (engine: string, table: string): number =>
  (MEASURED[engine] ?? MEASURED.postgres)?.[table] ?? 0;
