// Coverage: which periods of a scope have been read in full. Written in the same transaction as the rows. Adjacent
// intervals are merged. A period that has to be read again is removed.
import type { Knex } from 'knex';
import { chunks } from '../../core/chunks.ts';
import type { Engine, Transaction } from '../engine.ts';
import { controlTable, instant, type RowOf, text } from '../schema/table.ts';

export const syncCoverage = controlTable({
  name: 'sync_coverage',
  meaning: 'Periods of each job and scope that have been read in full.',
  key: ['job', 'scope', 'begin_at'],
  columns: {
    job: text('Name of the job.'),
    scope: text('What was read, as the job names it; `all` for a full listing.'),
    begin_at: instant('Start of the period; the epoch if a listing has no period.'),
    end_at: instant('End of the period, exclusive.', { required: true }),
    covered_at: instant('When any part of the period was last read.', { required: true }),
    run_id: text('The run that last read any part of the period.', { required: true }),
  },
});

export interface Interval {
  /** ISO instants, UTC; `endAt` is exclusive. */
  beginAt: string;
  endAt: string;
}

/** Start of the coverage of a listing that has no period: it covers everything up to its end. */
export const EVER = '1970-01-01T00:00:00.000Z';
/** End of a slice that covers everything up to the moment of its read. */
export const UNTIL_READ = '9999-12-31T23:59:59.999Z';

/** One period, the same for several scopes. */
export interface ScopedInterval extends Interval {
  scopes: readonly string[];
}

export interface CoveredBy {
  job: string;
  runId: string;
  /** When it was read. */
  at: string;
}

/** Scopes per statement, far below the binding limit of any engine. */
const SCOPES_AT_ONCE = 500;

type CoverageRow = RowOf<typeof syncCoverage>;

export async function markCovered({ sql }: Transaction, covered: ScopedInterval, by: CoveredBy): Promise<void> {
  for (const scopes of chunks(covered.scopes, SCOPES_AT_ONCE)) {
    const touching = await removeTouching(sql, by.job, scopes, covered);
    const rows = scopes.map((scope) => {
      const own = touching.filter((row) => row.scope === scope);
      return {
        job: by.job,
        scope,
        begin_at: least([covered.beginAt, ...own.map((row) => row.begin_at)]),
        end_at: greatest([covered.endAt, ...own.map((row) => row.end_at)]),
        covered_at: by.at,
        run_id: by.runId,
      };
    });
    await insert(sql, rows);
  }
}

/** Removes a period from the coverage, so that the next plan reads it again. */
export async function invalidate(
  { sql }: Transaction,
  period: ScopedInterval,
  by: Pick<CoveredBy, 'job'>,
): Promise<void> {
  for (const scopes of chunks(period.scopes, SCOPES_AT_ONCE)) {
    const cut = await removeTouching(sql, by.job, scopes, period);
    const left = cut.flatMap((row) =>
      outside({ beginAt: row.begin_at, endAt: row.end_at }, period).map(({ beginAt, endAt }) => ({
        ...row,
        begin_at: beginAt,
        end_at: endAt,
      })),
    );
    await insert(sql, left);
  }
}

/** The parts of an interval before and after another one. */
export const outside = ({ beginAt, endAt }: Interval, other: Interval): Interval[] =>
  [
    { beginAt, endAt: least([endAt, other.beginAt]) },
    { beginAt: greatest([beginAt, other.endAt]), endAt },
  ].filter((part) => part.beginAt < part.endAt);

/**
 * A read dated after `now` was made before the clock was set back. Its coverage after `now` is invalidated, and
 * `covered_at` is reset because the true time of the read is unknown.
 */
export async function invalidateFuture(
  engine: Pick<Engine, 'read' | 'write'>,
  job: string,
  now: string,
): Promise<void> {
  const ahead = (sql: Knex) => sql('sync_coverage').where({ job }).where('covered_at', '>', now);
  if ((await engine.read((sql) => ahead(sql).first('job'))) === undefined) return;
  await engine.write(async ({ sql }) => {
    await ahead(sql).where('begin_at', '>=', now).delete();
    await ahead(sql).where('end_at', '>', now).update({ end_at: now });
    await ahead(sql).update({ covered_at: sql.ref('begin_at') });
  });
}

/** The covered intervals of each scope of a job, in order. */
export async function coverageOf(engine: Pick<Engine, 'read'>, job: string): Promise<Map<string, Interval[]>> {
  const rows: CoverageRow[] = await engine.read((sql) => sql('sync_coverage').where({ job }).orderBy('begin_at'));
  const scopes = Map.groupBy(rows, ({ scope }) => scope).entries();
  const intervals = (own: readonly CoverageRow[]) => own.map((row) => ({ beginAt: row.begin_at, endAt: row.end_at }));
  return new Map(scopes.map(([scope, own]) => [scope, intervals(own)]));
}

/** The scopes of all jobs that match the pattern, `%` for any text. */
export async function scopesLike(engine: Pick<Engine, 'read'>, pattern: string): Promise<string[]> {
  const rows = await engine.read((sql) =>
    sql('sync_coverage').whereLike('scope', pattern).orderBy('scope').distinct('scope'),
  );
  return rows.map(({ scope }) => scope as string);
}

/** Where the coverage of each scope begins and ends. */
export async function coveredBounds({ sql }: Transaction, job: string, scopes: readonly string[]) {
  const bounds = new Map<string, Interval>();
  for (const some of chunks(scopes, SCOPES_AT_ONCE)) {
    const rows: ({ scope: string } & Interval)[] = await sql('sync_coverage')
      .where({ job })
      .whereIn('scope', some)
      .groupBy('scope')
      .select('scope')
      .min({ beginAt: 'begin_at' })
      .max({ endAt: 'end_at' });
    for (const { scope, ...bound } of rows) bounds.set(scope, bound);
  }
  return bounds;
}

/** Deletes and returns the rows that overlap or touch the interval. */
async function removeTouching(sql: Knex, job: string, scopes: string[], { beginAt, endAt }: Interval) {
  const rows = sql<CoverageRow>('sync_coverage')
    .where({ job })
    .whereIn('scope', scopes)
    .where('begin_at', '<=', endAt)
    .where('end_at', '>=', beginAt);
  const removed: CoverageRow[] = await rows.clone();
  await rows.clone().delete();
  return removed;
}

async function insert(sql: Knex, rows: readonly CoverageRow[]): Promise<void> {
  for (const some of chunks(rows, 100)) await sql('sync_coverage').insert(some);
}

/** Instants in the same format sort as text. */
export const least = (texts: readonly string[]): string => texts.toSorted()[0] as string;
const greatest = (texts: readonly string[]): string => texts.toSorted().at(-1) as string;
