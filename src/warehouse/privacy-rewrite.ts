// Brings what is stored under the policies that hold now, page by page. Every step may be repeated, and the policies
// are noted last, so that a rewrite that was cut begins again. A policy that was eased gives nothing back: the
// value comes with the next reading.
import { type Clock, isoInstant } from '../core/clock.ts';
import { Fatal } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Policy } from '../core/privacy-policy.ts';
import { baseTables } from './catalog.ts';
import type { Engine, Row, Scalar } from './engine.ts';
import { factMemory } from './learned-facts.ts';
import type { Guard, Privacy } from './privacy.ts';
import { recordColumns, type Table } from './table.ts';

interface PrivacyFacts {
  policies: Record<string, Policy>;
  fingerprint: string;
}

const PAGE = 1_000;

export async function enforcePrivacy(
  engine: Engine,
  privacy: Privacy,
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  const memory = factMemory<PrivacyFacts>(engine, 'privacy');
  const before = await memory.read();
  if (before !== undefined && before.fingerprint !== privacy.fingerprint) throw otherSecret();
  const stricter = Object.entries(privacy.policies).filter(
    ([column, policy]) => policy !== 'keep' && policy !== before?.policies[column],
  );
  const isSame = Object.entries(privacy.policies).every(
    ([column, policy]) => policy === (before?.policies[column] ?? 'keep'),
  );
  if (before !== undefined && isSame) return;
  if (stricter.length > 0) {
    const changed = await rewriteAll(engine, privacy, clock);
    if (changed > 0) {
      await engine.scrub();
      log.info({ rows: changed, columns: stricter.map(([column]) => column) }, 'personal values rewritten');
    }
  }
  await memory.write({ policies: privacy.policies, fingerprint: privacy.fingerprint }, clock.now());
}

async function rewriteAll(engine: Engine, privacy: Privacy, clock: Clock): Promise<number> {
  let changed = 0;
  for (const table of baseTables) {
    changed += await rewriteRows(engine, table, privacy.guard(table), isoInstant(clock.now()));
    changed += await rewriteQuarantine(engine, table, privacy.guard(table));
    changed += await rewriteRevisions(engine, table, privacy);
  }
  return changed;
}

/** Keyset pages of the rows that hold something; a key that changes is met again and stays as it is. */
async function rewriteRows(engine: Engine, table: Table, guard: Guard, at: string): Promise<number> {
  const columns = [...recordColumns(table).map(({ name }) => name), 'extra'];
  const keyOf = (row: Row): Scalar[] => table.key.map((name) => row[columns.indexOf(name)] ?? null);
  let changed = 0;
  for (let after: Scalar[] | undefined; ; ) {
    const page: Row[] = await engine.read(async (sql) => {
      const query = sql(table.name)
        .select(columns)
        .orderBy([...table.key])
        .limit(PAGE);
      if (after !== undefined) {
        query.whereRaw(`(${table.key.join(', ')}) > (${after.map(() => '?').join(', ')})`, after as string[]);
      }
      const found: Record<string, Scalar>[] = await query;
      return found.map((row) => columns.map((name) => row[name] ?? null));
    });
    const last = page.at(-1);
    if (last === undefined) return changed;
    after = keyOf(last);
    const moved = page.flatMap((row) => {
      const stored = guard.row(row);
      const differing = columns.filter((_, index) => stored[index] !== row[index]);
      return differing.length === 0 ? [] : [{ row, stored, differing }];
    });
    if (moved.length === 0) continue;
    changed += moved.length;
    await engine.write(async ({ sql }) => {
      for (const { row, stored, differing } of moved) {
        const key = Object.fromEntries(table.key.map((name, index) => [name, keyOf(row)[index]]));
        const values = Object.fromEntries(differing.map((name) => [name, stored[columns.indexOf(name)]]));
        await sql(table.name)
          .where(key)
          .update({ ...values, _changed_at: at, _run_id: 'privacy' });
      }
    });
  }
}

async function rewriteQuarantine(engine: Engine, table: Table, guard: Guard): Promise<number> {
  return engine.write(async ({ sql }) => {
    const kept = await sql('sync_quarantine').where({ table_name: table.name }).select('id', 'payload');
    let changed = 0;
    for (const { id, payload } of kept) {
      const stored = JSON.stringify(guard.record(parsed(payload)));
      if (stored === payload) continue;
      changed++;
      await sql('sync_quarantine').where({ id }).update({ payload: stored });
    }
    return changed;
  });
}

/** The revisions of a table repeat its key. */
async function rewriteRevisions(
  engine: Engine,
  table: Table,
  { policies, asStored }: Privacy,
): Promise<number> {
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
  new Fatal('The digests in the warehouse were made with another secret than the present one', {
    code: 'privacy_secret_differs',
    hint: 'Set privacy.secret to the same value on every machine, or put the file data/privacy.key back.',
  });
