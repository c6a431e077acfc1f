// Reduces the columns of the outbox and adds the use of a code to its key. Every old mark that an item may be at the
// service becomes a state with that meaning: no open entry is lost, and none is sent without a read-back.
import type { Knex } from 'knex';
import type { Ddl } from '../../engine.ts';
import { pushAttempt } from '../../outbox/attempts.ts';
import { pushOutbox } from '../../outbox/entry.ts';
import type { Migration } from './migration.ts';
import { rebuildTable } from './rebuild-table.ts';

export const smallOutbox: Migration = {
  name: '2026-11-16 fewer columns in the outbox',
  async up(sql, engine) {
    const outbox = await engine.columnsOf(sql, pushOutbox.name);
    if (outbox !== undefined) await migrateOutbox(sql, engine, outbox);
    if ((await engine.columnsOf(sql, pushAttempt.name)) !== undefined) await migrateAttempts(sql, engine);
  },
};

async function migrateOutbox(sql: Knex, engine: Ddl, columns: readonly string[]): Promise<void> {
  const outbox = () => sql(pushOutbox.name);
  // Accepted without an identifier, then changed by the ERP: confirmed, with content still to send.
  await outbox()
    .where({ state: 'unknown' })
    .whereNotNull('confirmed_at')
    .update({ state: 'confirmed', unknown_since: null, absent_since: null, unclear_sends: 0 });
  // The wait for proof of absence restarts, by the service's clock.
  await outbox().where({ state: 'unknown' }).update({ absent_since: null });
  // Earlier versions stopped watching an entry once a listing showed it, unless its identifier never arrived.
  await outbox()
    .where({ state: 'confirmed' })
    .whereNull('seen_at')
    .whereNotNull('remote_id')
    .where((or) => or.whereNull('is_watched').orWhere('is_watched', false))
    .update({ seen_at: sql.ref('confirmed_at') });
  await outbox()
    .where({ state: 'confirmed' })
    .whereNull('sent_hash')
    .update({ sent_hash: sql.ref('content_hash') });
  const isNoted = columns.includes('noted_hash')
    ? "noted_hash is not null and state in ('sending', 'unknown', 'confirmed')"
    : '1 = 0';
  if (columns.includes('noted_hash'))
    await outbox()
      .whereRaw(isNoted)
      .update({ content_hash: sql.ref('noted_hash'), payload: null });
  await rebuildTable(sql, engine, pushOutbox, {
    code_use: '1',
    attention: `case when ${isNoted} then 'invalid_change' end`,
  });
}

/** Old names of attempt outcomes. */
const RENAMED: Readonly<Record<string, string>> = {
  refused: 'rejected',
  blind: 'inconclusive',
  vouched: 'asserted-absent',
  revived: 'retried',
};

async function migrateAttempts(sql: Knex, engine: Ddl): Promise<void> {
  const attempts = () => sql(pushAttempt.name);
  for (const [outcome, renamed] of Object.entries(RENAMED))
    await attempts().where({ outcome }).update({ outcome: renamed });
  await attempts().where({ what: 'order' }).update({ what: 'action' });
  // An open attempt belongs to a dead process. The next run records the outcome of its send.
  await attempts().whereNull('outcome').delete();
  await rebuildTable(sql, engine, pushAttempt, { code_use: '1' });
}
