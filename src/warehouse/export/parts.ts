// The parts of a table: a single one, or one per local month and one for rows without a day. The state of a part is equal
// in two exports only if its rows are.
import { createHash } from 'node:crypto';
import type { Scalar, Scan } from '../engine.ts';
import { lookups } from '../schema/lookups.ts';
import type { Exportable } from './exportable.ts';

export interface Part {
  /** `all`, a month such as 2026-03, or NO_MONTH. */
  name: string;
  where: string;
  bindings: readonly string[];
  /** Rows behind the part; those of a view may be more than it shows. 0 if they were not counted. */
  sourceRows: number;
  /** Null if the state is not known. */
  state: string | null;
  /** When a row behind the part last changed; null if unknown. */
  changedAt: string | null;
}

/** The usual name of the partition for null, from Hive. */
const NO_MONTH = '__HIVE_DEFAULT_PARTITION__';

const NAME_QUERIES = [
  'select id, plate, title, fleet_name, cost_center_name, vehicle_category_name from vehicle order by id',
  'select id, user_id, department_name, cost_center_name from driver order by id',
  ...lookups.map(({ table }) => `select * from "${table.name}" order by "${table.key[0]}"`),
  'select name, hash from schema_view order by name',
  'select late_after_seconds from stop_rule',
];

type SharedState = Awaited<ReturnType<typeof sharedState>>;

/** Digests of what the state of a part depends on besides its own rows. */
export async function sharedState(scan: Scan) {
  const zone = await digest(scan, ['select from_at, offset_seconds from time_zone_offset order by from_at']);
  return { zone, names: await digest(scan, NAME_QUERIES) };
}

async function digest(scan: Scan, statements: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const statement of statements) {
    for await (const rows of scan(statement)) for (const row of rows) hash.update(`${Object.values(row).join('\t')}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

export async function partsOf(scan: Scan, table: Exportable, shared: SharedState): Promise<Part[]> {
  const { month, sources, hasNames } = table;
  if (sources.length === 0) return [{ ...rowsOf(table, 'all'), sourceRows: 0, state: null, changedAt: null }];
  const part = `substr(cast(day as text), 1, 7)`;
  const statement = `select ${month === null ? "'all'" : part} as part, sum(n) as n, max(changed_at) as latest
    from (${sources.join(' union all ')}) as source where n > 0 group by 1`;
  const found = await all(scan, statement);
  if (month === null && found.length === 0) found.push({ part: 'all', n: 0, latest: '' });
  return found
    .map(({ part, n, latest }) => {
      const changedAt = latest as string;
      const state = [n, changedAt, month === null ? '' : shared.zone, hasNames ? shared.names : ''].join(' ');
      return { ...rowsOf(table, part as string | null), sourceRows: Number(n), state, changedAt };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function rowsOf({ month }: Exportable, part: string | null): Pick<Part, 'name' | 'where' | 'bindings'> {
  if (month === null) return { name: 'all', where: '1 = 1', bindings: [] };
  if (part === null) return { name: NO_MONTH, where: `"${month}" is null`, bindings: [] };
  return {
    name: part,
    where: `"${month}" >= ? and "${month}" < ?`,
    bindings: [`${part}-01`, `${shiftMonth(part, 1)}-01`],
  };
}

/** The part for rows without a day has no neighbours. */
export const shiftMonth = (month: string, months: number): string => {
  if (month === NO_MONTH) return month;
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + months)).toISOString().slice(0, 7);
};

async function all(scan: Scan, statement: string, bindings: readonly Scalar[] = []) {
  const rows: Record<string, unknown>[] = [];
  for await (const batch of scan(statement, bindings)) rows.push(...batch);
  return rows;
}
