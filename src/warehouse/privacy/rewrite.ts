// Applies changed privacy policies to stored rows, page by page. Every step is safe to repeat, and the policies are stored
// last, so that an interrupted rewrite starts again. A relaxed policy restores nothing: the next read brings the value.
import type { Knex } from 'knex';
import { Fatal } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Log } from '../../core/log.ts';
import { stableJson } from '../../core/text/stable-json.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import { ALL_DAYS, hasDayFigures, writeEventDays } from '../control/event-days.ts';
import { factIn, factMemory } from '../control/learned-facts.ts';
import { hasNumericKey } from '../control/quarantine.ts';
import type { Engine, Row, Scalar, Transaction } from '../engine.ts';
import { baseTables } from '../schema/catalog.ts';
import { recordColumns, type Table } from '../schema/table.ts';
import { routePlan } from '../tables/route-plan.ts';
import { routePoint } from '../tables/route-point.ts';
import { isDocument, type Privacy, type PrivacyFilter, personalColumns } from './privacy.ts';

type Policies = Privacy['policies'];

interface PrivacyFacts {
  /** Those of all stored rows. */
  policies: Policies;
  /** Those to which a process is rewriting the stored rows. */
  next?: Policies;
  fingerprint: string;
  /** Overwritten values may still be in the files: a rewrite was interrupted, or a reader kept them alive. */
  isUnclean?: boolean;
  /** The rule that found the document numbers in the stored rows. */
  rule?: number;
}

/** Increases when the rule finds more document numbers, so that stored rows are searched again. */
const RULE = 2;

const PAGE = 1_000;

const FACT = 'privacy';

const changedPolicies = (before: Policies, now: Policies): string[] =>
  Object.keys({ ...before, ...now }).filter((column) => (now[column] ?? 'keep') !== (before[column] ?? 'keep'));

/** Part of each load: a process that still runs with earlier policies must store nothing after the rewrite. */
export async function rejectOtherPolicies(tx: Transaction, privacy: Privacy): Promise<void> {
  if (!(await hasOtherPolicies(tx, privacy))) return;
  throw new Fatal('Another process stores personal values by other privacy policies than this one', {
    code: 'privacy_policies_differ',
    hint: 'Restart this daemon, so that it uses the policies of the configuration; all daemons need the same.',
  });
}

export async function hasOtherPolicies({ sql }: Transaction, { policies }: Privacy): Promise<boolean> {
  const fact = await factIn<PrivacyFacts>(sql, FACT);
  return fact !== undefined && changedPolicies(fact.next ?? fact.policies, policies).length > 0;
}

export async function enforcePrivacy(
  engine: Engine,
  privacy: Privacy,
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  const memory = factMemory<PrivacyFacts>(engine, FACT);
  const { policies, fingerprint } = privacy;
  const before = await memory.read();
  if (before !== undefined && before.fingerprint !== fingerprint) throw otherSecret();
  const known = before?.policies ?? {};
  const changed = changedPolicies(known, policies);
  const isNewRule = before?.rule !== RULE;
  if (before !== undefined && changed.length === 0 && !isNewRule && before.isUnclean !== true) return;
  // Stored before the first row changes, so that after a crash the next start knows that old values may remain.
  await memory.write(
    { policies: known, next: policies, fingerprint, isUnclean: true, rule: before?.rule },
    clock.now(),
  );
  const hidesDocuments = Object.entries(policies).some(([column, policy]) => isDocument(column) && policy !== 'keep');
  const isAboutDocuments = changed.some(isDocument) || (isNewRule && hidesDocuments);
  const rows = await rewriteTables(engine, privacy, { changed, isAboutDocuments }, clock);
  const isUnclean = (rows > 0 || before?.isUnclean === true) && !(await engine.scrub());
  if (isUnclean) log.warn('overwritten personal values are still in the database files; the next start tries again');
  if (rows > 0) log.info({ rows }, 'personal values rewritten');
  await memory.write({ policies, fingerprint, isUnclean, rule: RULE }, clock.now());
}

/** Rewrites the tables with a changed column. Document numbers may also be in `extra` of any other table. */
async function rewriteTables(
  engine: Engine,
  privacy: Privacy,
  { changed, isAboutDocuments }: { changed: readonly string[]; isAboutDocuments: boolean },
  clock: Clock,
): Promise<number> {
  const owners = new Set(changed.map((column) => personalColumns.get(column)?.table));
  let rows = 0;
  for (const table of baseTables) {
    const isOwner = owners.has(table);
    if (!isOwner && !isAboutDocuments) continue;
    const filter = privacy.filter(table);
    const rewritten = await rewriteRows(engine, table, { filter, onlyExtra: !isOwner }, isoInstant(clock.now()));
    if (rewritten > 0 && hasDayFigures(table))
      await engine.write(({ sql }) => writeEventDays(sql, engine.dialect, ALL_DAYS), { isLong: true });
    rows += rewritten;
    rows += await rewriteQuarantine(engine, table, filter);
    if (isOwner) rows += await rewriteRevisions(engine, table, privacy);
    // Its values are in the form of the policy before. They come again with the next change that the ERP offers.
    if (table === routePlan || table === routePoint)
      rows += await engine.write(({ sql }) => sql('push_content').delete());
  }
  return rows;
}

/**
 * Reads the rows in keyset pages. A page with rows to rewrite is read again in the transaction that rewrites it: another daemon
 * may have loaded newer rows meanwhile. A row whose key changes may be read again; the second time it stays unchanged.
 */
async function rewriteRows(
  engine: Engine,
  table: Table,
  { filter, onlyExtra }: { filter: PrivacyFilter; onlyExtra: boolean },
  at: string,
): Promise<number> {
  const columns = [...recordColumns(table).map(({ name }) => name), 'extra'];
  const keyOf = (row: Row): Scalar[] => table.key.map((name) => row[columns.indexOf(name)] ?? null);
  /** Rows after a key and up to another; without the latter, a page of them. */
  const readRows = async (sql: Knex, after?: Scalar[], upTo?: Scalar[]): Promise<Row[]> => {
    const query = sql(table.name)
      .select(columns)
      .orderBy([...table.key]);
    if (onlyExtra) query.whereNotNull('extra');
    const compare = (sign: string, key: Scalar[]) =>
      query.whereRaw(`(${table.key.join(', ')}) ${sign} (${key.map(() => '?').join(', ')})`, key as string[]);
    if (after !== undefined) compare('>', after);
    if (upTo !== undefined) compare('<=', upTo);
    else query.limit(PAGE);
    const found: Record<string, Scalar>[] = await query;
    return found.map((row) => columns.map((name) => row[name] ?? null));
  };
  const rewritten = (row: Row): Record<string, Scalar | undefined> => {
    const stored = filter.row(row);
    const differing = columns.filter((name, index) => !isSame(name, stored[index], row[index]));
    return Object.fromEntries(differing.map((name) => [name, stored[columns.indexOf(name)]]));
  };
  const differs = (row: Row): boolean => Object.keys(rewritten(row)).length > 0;
  let changed = 0;
  for (let after: Scalar[] | undefined; ; ) {
    const page = await engine.read((sql) => readRows(sql, after));
    const last = page.at(-1);
    if (last === undefined) return changed;
    if (page.some(differs)) {
      await engine.write(
        async ({ sql }) => {
          for (const row of (await readRows(sql, after, keyOf(last))).filter(differs)) {
            const key = Object.fromEntries(table.key.map((name, index) => [name, keyOf(row)[index] ?? null]));
            const change = rewritten(row);
            changed++;
            if (await isStoredAlready(sql, table, key, change)) await sql(table.name).where(key).delete();
            else
              await sql(table.name)
                .where(key)
                .update({ ...change, _changed_at: at, _run_id: 'privacy' });
          }
        },
        { isLong: true },
      );
    }
    after = keyOf(last);
  }
}

/**
 * The new key of the row may be that of a row from a time in which this policy applied before. Of the two, the one that the
 * service still returns stays. Deletes the other row if this one stays.
 */
async function isStoredAlready(
  sql: Knex,
  table: Table,
  key: Record<string, Scalar>,
  change: Record<string, Scalar | undefined>,
): Promise<boolean> {
  if (!table.key.some((name) => name in change)) return false;
  const other = Object.fromEntries(table.key.map((name) => [name, name in change ? change[name] : key[name]]));
  await sql(table.name).where(other).whereNotNull('_missing_since').delete();
  return (
    (await sql(table.name)
      .where(other)
      .first(table.key[0] ?? '')) !== undefined
  );
}

/** An engine may format JSON with other whitespace. */
const isSame = (name: string, a: Scalar | undefined, b: Scalar | undefined): boolean =>
  a === b || (name === 'extra' && typeof a === 'string' && typeof b === 'string' && plainJson(a) === plainJson(b));

const plainJson = (text: string): string => stableJson(JSON.parse(text));

async function rewriteQuarantine(engine: Engine, table: Table, filter: PrivacyFilter): Promise<number> {
  let changed = 0;
  const rewritePage = (after: string): Promise<string | undefined> =>
    engine.write(async ({ sql }) => {
      const kept = await sql('sync_quarantine')
        .where({ table_name: table.name })
        .where('id', '>', after)
        .orderBy('id')
        .limit(PAGE)
        .select('id', 'payload', 'record_key');
      for (const { id, payload, record_key } of kept) {
        const record = filter.record(parsed(payload));
        const stored = JSON.stringify(record);
        if (stored === JSON.stringify(parsed(payload))) continue;
        changed++;
        // A numeric key stays: in the payload it may be masked.
        const key = record_key === null || hasNumericKey(table) ? record_key : keyText(table, record);
        await sql('sync_quarantine').where({ id }).update({ payload: stored, record_key: key });
      }
      return kept.at(-1)?.id;
    });
  for (let last: string | undefined = ''; last !== undefined; ) last = await rewritePage(last);
  return changed;
}

/** The key of a record as the quarantine stores it. */
const keyText = (table: Table, record: unknown): string =>
  table.key
    .map((name) => table.columns.find((column) => column.name === name)?.from ?? [])
    .map((path) => path.reduce<unknown>((value, step) => (value as JsonObject | null)?.[step], record))
    .join(' ');

/** The revisions of a table repeat its key. */
async function rewriteRevisions(engine: Engine, table: Table, { policies, asStored }: Privacy): Promise<number> {
  const { revisions } = table;
  if (revisions === null) return 0;
  const hashed = table.key.filter((column) => policies[`${table.name}.${column}`] === 'hash');
  return engine.write(async ({ sql }) => {
    let changed = 0;
    for (const column of hashed) {
      for (const row of await sql(revisions).distinct(column)) {
        const stored = asStored(table, column, row[column]);
        if (stored === row[column]) continue;
        changed += await sql(revisions)
          .where({ [column]: row[column] })
          .update({ [column]: stored });
      }
    }
    return changed;
  });
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}

const otherSecret = (): Fatal =>
  new Fatal('The digests in the warehouse were made with a different secret', {
    code: 'privacy_secret_differs',
    hint: 'Set privacy.secret to the same value on every machine, or restore the file data/privacy.key.',
  });
