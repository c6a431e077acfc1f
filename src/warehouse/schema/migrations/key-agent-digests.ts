// Agents were listed under plain digests of their tax numbers. The digest of today is made of that one, so that
// existing entries are brought along without their numbers.
import type { Knex } from 'knex';
import { digestWith, madeKey } from '../../privacy/personal-digest.ts';
import type { Migration } from './migration.ts';

const PREFIX = 'cpf-';
const LENGTH = 24;

export const keyAgentDigests: Migration = {
  name: '2026-11-15 key the digests of agents',
  async up(sql) {
    const isThere = (await sql.schema.hasTable('push_outbox')) && (await sql.schema.hasTable('sync_state'));
    if (!isThere) return;
    const digest = digestWith(await madeKey(sql, new Date().toISOString()));
    const agents: { external_code: string; remote_key: string }[] = await sql('push_outbox')
      .where({ kind: 'agents' })
      .select('external_code', 'remote_key');
    for (const { external_code, remote_key } of agents) {
      const renamed = external_code.startsWith(PREFIX)
        ? PREFIX + digest(external_code.slice(PREFIX.length)).slice(0, LENGTH)
        : external_code;
      // One that could not be read has no key.
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
