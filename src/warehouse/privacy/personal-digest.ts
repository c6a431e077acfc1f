// Digests of people's tax numbers. There are few enough tax numbers to reverse a plain digest by trying all of them, so
// the digest uses a random key. The key is created once, stored in the warehouse and never shown.
import { createHmac, randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { Engine } from '../engine.ts';

export type Digest = (text: string) => string;

const NAME = 'digest_key';

/** The digest stays the same for the life of the warehouse. */
export async function personalDigest(engine: Engine, at: string): Promise<Digest> {
  const key = await engine.read(storedKey);
  return digestWith(key ?? (await engine.write(({ sql }) => createKey(sql, at))));
}

export const digestWith =
  (key: string): Digest =>
  (text) =>
    createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('hex');

/** If two processes create a key at the same time, both get the first one. */
export async function createKey(sql: Knex, at: string): Promise<string> {
  const row = { name: NAME, value: JSON.stringify(randomBytes(32).toString('hex')), updated_at: at };
  await sql('sync_state').insert(row).onConflict('name').ignore();
  return (await storedKey(sql)) as string;
}

async function storedKey(sql: Knex): Promise<string | undefined> {
  const row = await sql('sync_state').where({ name: NAME }).first('value');
  return row === undefined ? undefined : (JSON.parse(row.value) as string);
}
