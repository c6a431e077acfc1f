// What verifications found: a row for each run, table and day, with its counts. The rows of a day that pulls no longer read
// again are final: a difference there is drift. Any other difference is late data, which the next runs bring.
import type { Knex } from 'knex';
import { MOST_VERIFIED_DAYS } from '../../core/reach-limits.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { DAY_MS } from '../../core/time/durations.ts';
import type { Engine } from '../engine.ts';
import { controlTable, date, instant, integer, json, type RowOf, text } from '../schema/table.ts';
import { outside, type ScopedInterval } from './coverage.ts';

export const syncVerification = controlTable({
  name: 'sync_verification',
  meaning: 'Results of verifications: the rows of a sample of days, read again and compared with the warehouse.',
  key: ['run_id', 'table_name', 'day', 'state'],
  retentionBy: 'verified_at',
  columns: {
    run_id: text('The run that compared the rows.'),
    table_name: text('Name of the table.'),
    day: date(
      'Local day of the rows; of plans, which are read by UTC days, the local day that such a day mostly belongs to; of a list, the day of the verification.',
    ),
    state: text('final if no run reads the rows again by itself, else provisional; lists are provisional.'),
    verified_at: instant('When the rows were compared.', { required: true }),
    compared: integer('Rows compared: the sum of the next four.', { required: true }),
    equal: integer('Rows that are the same in both.', { required: true }),
    differing: integer('Rows with another value in some column.', { required: true }),
    missing_here: integer('Rows of the service that the warehouse did not have, or had marked as missing.', {
      required: true,
    }),
    missing_there: integer('Stored rows that the service no longer has.', { required: true }),
    repaired: integer('Rows that the run has repaired.', { required: true }),
    differing_columns: text('How many rows differ, by column, as JSON; null if none does.'),
    unrepaired: json('Final periods that differ and were not repaired, until they are compared again; null if none.'),
  },
});

export interface VerifiedDay extends RowOf<typeof syncVerification> {
  state: 'final' | 'provisional';
}

/** A verification reaches no further back: an older result says nothing about the days that can be verified now. */
export const LONGEST_REACH_MS = MOST_VERIFIED_DAYS * DAY_MS;

/** Stores the rows of a slice. The periods that it has compared are no longer unrepaired in the rows of earlier runs. */
export const storeVerified = (
  engine: Pick<Engine, 'write'>,
  rows: readonly VerifiedDay[],
  compared: readonly ScopedInterval[] = [],
): Promise<unknown> =>
  engine.write(async (tx) => {
    const earlier: VerifiedDay[] = await tx
      .sql('sync_verification')
      .whereNotNull('unrepaired')
      .whereIn(
        'table_name',
        rows.map(({ table_name }) => table_name),
      )
      .whereNotIn(
        'run_id',
        rows.map(({ run_id }) => run_id),
      );
    const changed = earlier
      .map((row) => ({ ...row, unrepaired: periodsText(notCompared(JSON.parse(row.unrepaired ?? '[]'), compared)) }))
      .filter(({ unrepaired }, index) => unrepaired !== earlier[index]?.unrepaired);
    await tx.store(syncVerification, [...changed, ...rows]);
  });

/** A value of `unrepaired`. */
export const periodsText = (periods: readonly ScopedInterval[]): string | null =>
  periods.length === 0 ? null : JSON.stringify(periods);

/** The periods without what `compared` has of their scopes. */
export function notCompared(periods: readonly ScopedInterval[], compared: readonly ScopedInterval[]): ScopedInterval[] {
  let left = [...periods];
  for (const each of compared) {
    const again = new Set(each.scopes);
    left = left.flatMap(({ scopes, ...period }) => [
      { scopes: scopes.filter((scope) => !again.has(scope)), ...period },
      ...outside(period, each).map((part) => ({ scopes: scopes.filter((scope) => again.has(scope)), ...part })),
    ]);
    left = left.filter(({ scopes }) => scopes.length > 0);
  }
  return left;
}

export const verifiedBy = (engine: Pick<Engine, 'read'>, runId: string): Promise<VerifiedDay[]> =>
  engine.read((sql) => sql('sync_verification').where({ run_id: runId }).orderBy(['table_name', 'day', 'state']));

/** The rows of bi_verification, newest first. */
export const verifications = (engine: Pick<Engine, 'read'>, table: string | undefined, limit: number, offset: number) =>
  engine.read(async (sql): Promise<Record<string, unknown>[]> => {
    const query = sql('bi_verification').orderBy([
      { column: 'run_id', order: 'desc' },
      { column: 'table_name' },
      { column: 'day', order: 'desc' },
      { column: 'state' },
    ]);
    if (table !== undefined) query.where({ table_name: table });
    return query.limit(limit).offset(offset);
  });

/**
 * All rows of each table in its last verification. `differing` are those of the compared rows that differ or are missing on
 * one side.
 */
export async function lastVerifications(engine: Pick<Engine, 'read'>) {
  const rows = await engine.read((sql) => lastRows(sql, {}));
  return sums(rows).map(({ equal, ...row }) => ({ ...row, differing: row.compared - equal }));
}

/** The final rows of a table in its last verification, and those of earlier ones that are unrepaired. */
export interface TableDrift {
  table: string;
  verified_at: string;
  compared: number;
  drifted: number;
  /** Share of the compared rows, 0 to 1; 0 if none was compared. */
  drift_ratio: number;
}

export async function tableDrift(engine: Pick<Engine, 'read'>): Promise<TableDrift[]> {
  const last = await engine.read((sql) => lastRows(sql, { state: 'final' }));
  const earlier = await engine.read((sql) => unrepairedRows(sql, last));
  return sums([...last, ...earlier]).map(({ table, verified_at, compared, equal }) => {
    const drifted = compared - equal;
    return { table, verified_at, compared, drifted, drift_ratio: drifted / (compared || 1) };
  });
}

/** A row without its large texts. */
type Counted = Pick<VerifiedDay, (typeof COUNTED)[number]>;
const COUNTED = ['table_name', 'run_id', 'day', 'verified_at', 'compared', 'equal'] as const;

/**
 * For each table, the rows of the last run that compared any row, and of the runs since then, whose days have none: the newest
 * of each day, so that a day does not count as different any more when it is compared again.
 */
function lastRows(sql: Knex, which: { state?: VerifiedDay['state'] }): Promise<Counted[]> {
  // Run ids sort by time.
  const last = sql('sync_verification')
    .where(which)
    .where('compared', '>', 0)
    .groupBy('table_name')
    .select('table_name', sql.raw('max(run_id) as run_id'))
    .as('last');
  const newer = sql('sync_verification as newer').whereRaw(
    'newer.run_id > found.run_id and newer.table_name = found.table_name and newer.day = found.day and newer.state = found.state',
  );
  return sql
    .from(sql('sync_verification').where(which).as('found'))
    .join(last, (join) => join.on('last.table_name', 'found.table_name').on('last.run_id', '<=', 'found.run_id'))
    .whereNotExists(newer)
    .orderBy('found.table_name')
    .select(COUNTED.map((name) => `found.${name}`));
}

/** The unrepaired rows that are not among those of the last verification. */
async function unrepairedRows(sql: Knex, last: readonly Counted[]): Promise<Counted[]> {
  if (last.length === 0) return [];
  const nameOf = ({ table_name, run_id, day }: Counted): string => `${table_name} ${run_id} ${day}`;
  const inLast = new Set(last.map(nameOf));
  const newestAt = Math.max(...last.map(({ verified_at }) => Date.parse(verified_at)));
  const rows: Counted[] = await sql('sync_verification')
    .whereNotNull('unrepaired')
    .where('verified_at', '>=', isoInstant(newestAt - LONGEST_REACH_MS))
    .select(COUNTED);
  return rows.filter((row) => !inLast.has(nameOf(row)));
}

function sums(rows: readonly Counted[]) {
  const byTable = Map.groupBy(rows, ({ table_name }) => table_name);
  return [...byTable].map(([table, own]) => ({
    table,
    verified_at: own.map(({ verified_at }) => verified_at).reduce((a, b) => (a > b ? a : b)),
    compared: own.reduce((sum, { compared }) => sum + compared, 0),
    equal: own.reduce((sum, { equal }) => sum + equal, 0),
  }));
}
