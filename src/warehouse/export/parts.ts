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

/** What all parts share: digests of what their state depends on besides their own rows, and the sources, each read once. */
export async function sharedState(scan: Scan) {
  const known = new Map<string, SourceDay[]>();
  return {
    zone: await digest(scan, ['select from_at, offset_seconds from time_zone_offset order by from_at']),
    names: await digest(scan, NAME_QUERIES),
    finality: await digest(scan, FINALITY_QUERIES),
    async daysOf(source: string): Promise<SourceDay[]> {
      const days = known.get(source) ?? (await readDays(scan, source));
      known.set(source, days);
      return days;
    },
  };
}

/** The rows of one day in a source: how many, and when one of them last changed. */
interface SourceDay {
  day: string | null;
  n: number;
  changedAt: string;
}

async function readDays(scan: Scan, source: string): Promise<SourceDay[]> {
  const found: SourceDay[] = [];
  const statement = `select cast(day as text) as day, n, changed_at from (${source}) as counted where n > 0`;
  for await (const rows of scan(statement, [], { isSmall: true })) {
    for (const [day, n, changedAt] of rows) found.push({ day, n: Number(n), changedAt } as SourceDay);
  }
  return found;
}

const countOf = (days: readonly SourceDay[]): number => days.reduce((sum, { n }) => sum + n, 0);

const latestOf = (days: readonly SourceDay[]): string =>
  days.reduce((latest, { changedAt }) => (changedAt > latest ? changedAt : latest), '');

async function digest(scan: Scan, statements: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const statement of statements) {
    for await (const rows of scan(statement, [], { isSmall: true }))
      for (const row of rows) hash.update(`${row.join('\t')}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

export async function partsOf(scan: Scan, table: Exportable, shared: SharedState): Promise<Part[]> {
  if (table.isCodeList) {
    const rows = `select * from "${table.name}" order by ${table.key.map(quote).join(', ')}`;
    return [{ ...rowsOf(table, 'all'), sourceRows: 0, state: await digest(scan, [rows]), changedAt: '' }];
  }
  if (table.sources.length === 0) return [{ ...rowsOf(table, 'all'), sourceRows: 0, state: null, changedAt: null }];
  const days: (SourceDay & { source: number; part: string | null })[] = [];
  for (const [source, statement] of table.sources.entries()) {
    for (const each of await shared.daysOf(statement))
      days.push({ ...each, source, part: table.month === null ? 'all' : (each.day?.slice(0, 7) ?? null) });
  }
  const found = Map.groupBy(days, ({ part }) => part);
  // A file without rows still has the columns for readers.
  if (found.size === 0) found.set(null, []);
  const others = [
    table.month === null && !table.hasNames ? '' : shared.zone,
    table.hasNames ? shared.names : '',
    table.hasFinality ? shared.finality : '',
  ];
  // Each source apart: a row of one may be committed late, with a time before another's.
  const stateOf = (own: typeof days): string =>
    [
      ...[...Map.groupBy(own, ({ source }) => source)].map(
        ([source, each]) => `${source}: ${countOf(each)} ${latestOf(each)}`,
      ),
      ...others,
    ].join(' ');
  return [...found]
    .map(([part, own]) => ({
      ...rowsOf(table, part),
      sourceRows: countOf(own),
      state: stateOf(own),
      changedAt: latestOf(own),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
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
