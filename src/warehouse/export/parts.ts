// The parts of a table: a single one, or one per local month and one for rows without a day. The state of a part is equal
// in two exports only if its rows are.
import { createHash } from 'node:crypto';
import type { Scan } from '../engine.ts';
import { lookups } from '../schema/lookups.ts';
import { quote } from '../schema/table.ts';
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
  'select evidence, form_name from proof_rule order by evidence, form_name',
];

const FINALITY_QUERIES = [
  'select count(*) as n, max(_changed_at) as changed_at from daily_summary',
  'select count(*) as n, max(observed_at) as changed_at from daily_summary_revision',
  `select read.scope, read.begin_at, read.end_at, read.covered_at from sync_coverage as read
    join table_job as filler on filler.job = read.job and filler.table_name = 'daily_summary' order by 1, 2, 3, 4`,
  'select min(day) as oldest, max(day) as newest from local_day',
];

type SharedState = Awaited<ReturnType<typeof sharedState>>;

/** Digests of what the state of a part depends on besides its own rows. */
export async function sharedState(scan: Scan) {
  const zone = await digest(scan, ['select from_at, offset_seconds from time_zone_offset order by from_at']);
  return { zone, names: await digest(scan, NAME_QUERIES), finality: await digest(scan, FINALITY_QUERIES) };
}

async function digest(scan: Scan, statements: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const statement of statements) {
    for await (const rows of scan(statement)) for (const row of rows) hash.update(`${row.join('\t')}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

export async function partsOf(scan: Scan, table: Exportable, shared: SharedState): Promise<Part[]> {
  if (table.isCodeList) {
    const rows = `select * from "${table.name}" order by ${table.key.map(quote).join(', ')}`;
    return [{ ...rowsOf(table, 'all'), sourceRows: 0, state: await digest(scan, [rows]), changedAt: '' }];
  }
  if (table.sources.length === 0) return [{ ...rowsOf(table, 'all'), sourceRows: 0, state: null, changedAt: null }];
  const found = Map.groupBy(await sourcesOf(scan, table), ({ part }) => part);
  // A file without rows still has the columns for readers.
  if (found.size === 0) found.set(null, []);
  const others = [
    table.month === null && !table.hasNames ? '' : shared.zone,
    table.hasNames ? shared.names : '',
    table.hasFinality ? shared.finality : '',
  ];
  return [...found]
    .map(([part, sources]) => ({
      ...rowsOf(table, part),
      sourceRows: sources.reduce((sum, { n }) => sum + Number(n), 0),
      state: [...sources.map(({ source, n, latest }) => `${source}: ${n} ${latest}`), ...others].join(' '),
      changedAt: sources.map(({ latest }) => latest).reduce((a, b) => (a > b ? a : b), ''),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

interface SourceState {
  part: string | null;
  /** Its place among the sources. Apart from each other: a row of one may be committed late, with a time before another's. */
  source: number;
  n: number;
  latest: string;
}

async function sourcesOf(scan: Scan, { month, sources }: Exportable): Promise<SourceState[]> {
  const numbered = sources.map(
    (sql, index) => `select ${index} as source, day, n, changed_at from (${sql}) as counted`,
  );
  const statement = `select ${month === null ? "'all'" : 'substr(cast(day as text), 1, 7)'} as part, source,
      sum(n) as n, max(changed_at) as latest
    from (${numbered.join(' union all ')}) as counted where n > 0 group by 1, 2 order by 1, 2`;
  const found: SourceState[] = [];
  for await (const rows of scan(statement)) {
    for (const [part, source, n, latest] of rows) found.push({ part, source, n, latest } as SourceState);
  }
  return found;
}

function rowsOf({ name, month, parent }: Exportable, part: string | null): Pick<Part, 'name' | 'where' | 'bindings'> {
  if (month === null) return { name: 'all', where: '1 = 1', bindings: [] };
  const day = quote(month);
  if (part === null && parent !== null) {
    const where = `not exists (select 1 from "${parent.table}" as parent
      where parent.id = "${name}"."${parent.column}" and parent.${day} is not null)`;
    return { name: NO_MONTH, where, bindings: [] };
  }
  if (part === null) return { name: NO_MONTH, where: `${day} is null`, bindings: [] };
  const isInMonth = `${day} >= ? and ${day} < ?`;
  return {
    name: part,
    where: parent === null ? isInMonth : `"${parent.column}" in (select id from "${parent.table}" where ${isInMonth})`,
    bindings: [`${part}-01`, `${shiftMonth(part, 1)}-01`],
  };
}

/** The part for rows without a day has no neighbours. */
export const shiftMonth = (month: string, months: number): string => {
  if (month === NO_MONTH) return month;
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + months)).toISOString().slice(0, 7);
};
