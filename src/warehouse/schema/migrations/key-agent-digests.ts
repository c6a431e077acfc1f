// Agents used to be listed under plain digests of their tax numbers. The new keyed digest is computed from the old one, so
// that existing entries can be migrated without the numbers.
import type { Knex } from 'knex';
import { createKey, digestWith } from '../../privacy/personal-digest.ts';
import type { Migration } from './migration.ts';

const PREFIX = 'cpf-';
const LENGTH = 24;

export const keyAgentDigests: Migration = {
  name: '2026-11-15 key the digests of agents',
  async up(sql) {
    const hasTables = (await sql.schema.hasTable('push_outbox')) && (await sql.schema.hasTable('sync_state'));
    if (!hasTables) return;
    const digest = digestWith(await createKey(sql, new Date().toISOString()));
    const agents: { external_code: string; remote_key: string }[] = await sql('push_outbox')
      .where({ kind: 'agents' })
      .select('external_code', 'remote_key');
    for (const { external_code, remote_key } of agents) {
      const renamed = external_code.startsWith(PREFIX)
        ? PREFIX + digest(external_code.slice(PREFIX.length)).slice(0, LENGTH)
        : external_code;
      // An entry that could not be read has no key.
      const keyed = remote_key === '' ? '' : digest(remote_key);
      const key = { kind: 'agents', external_code };
      await sql('push_outbox').where(key).update({ external_code: renamed, remote_key: keyed });
      await rename(sql, key, renamed);
    }
  },
};

async function rename(sql: Knex, key: { kind: string; external_code: string }, renamed: string) {
  if (await sql.schema.hasTable('push_attempt'))
    await sql('push_attempt').where(key).update({ external_code: renamed });
}
