// The parts of a table: a single one, or one per month (UTC) and one for rows without the instant.
import type { Scalar, Scan } from '../engine.ts';
import type { Exportable } from './exportable.ts';

export interface Part {
  name: string;
  where: string;
  bindings: readonly string[];
  rows: number;
  /** When a row of the part last changed; null if unknown. */
  changedAt: string | null;
}

/** The usual name of the partition for null, from Hive. */
const NO_MONTH = '__HIVE_DEFAULT_PARTITION__';

export async function partsOf(scan: Scan, table: Exportable): Promise<Part[]> {
  if (table.month === null) return [await measured(scan, table, { name: 'all', where: '1 = 1', bindings: [] })];
  const column = `"${table.month}"`;
  const [range] = await all(scan, `select min(${column}) as first, max(${column}) as last from "${table.name}"`);
  const where = `${column} >= ? and ${column} < ?`;
  const months = monthsBetween(range?.first, range?.last).map((month) => ({ ...month, where }));
  const parts: Part[] = [];
  for (const draft of [...months, { name: NO_MONTH, where: `${column} is null`, bindings: [] }]) {
    const part = await measured(scan, table, draft);
    if (part.rows > 0) parts.push(part);
  }
  return parts;
}

type Draft = Omit<Part, 'rows' | 'changedAt'>;

async function measured(scan: Scan, { name, changed }: Exportable, draft: Draft): Promise<Part> {
  const latest = changed === null ? 'null' : `max("${changed}")`;
  const statement = `select count(*) as n, ${latest} as latest from "${name}" where ${draft.where}`;
  const [found] = await all(scan, statement, draft.bindings);
  return { ...draft, rows: Number(found?.n ?? 0), changedAt: (found?.latest ?? null) as string | null };
}

async function all(scan: Scan, statement: string, bindings: readonly Scalar[] = []) {
  const rows: Record<string, unknown>[] = [];
  for await (const batch of scan(statement, bindings)) rows.push(...batch);
  return rows;
}

function monthsBetween(first: unknown, last: unknown): { name: string; bindings: string[] }[] {
  if (typeof first !== 'string' || typeof last !== 'string') return [];
  const months = [];
  const start = new Date(first);
  for (let month = Date.UTC(start.getUTCFullYear(), start.getUTCMonth()); month <= Date.parse(last); ) {
    const begin = new Date(month);
    month = Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1);
    const instant = begin.toISOString();
    months.push({ name: instant.slice(0, 7), bindings: [instant, new Date(month).toISOString()] });
  }
  return months;
}
