// Digests of people's tax numbers. There are few enough of those that a plain digest is undone by trying all of
// them, so it is made with a random key: made once, kept in the warehouse, shown by nothing.
import { createHmac, randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { Engine } from '../engine.ts';

export type Digest = (text: string) => string;

const NAME = 'digest_key';

/** Stays the same for the life of the warehouse. */
export async function personalDigest(engine: Engine, at: string): Promise<Digest> {
  const key = await engine.read(keptKey);
  return digestWith(key ?? (await engine.write(({ sql }) => madeKey(sql, at))));
}

export const digestWith =
  (key: string): Digest =>
  (text) =>
    createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('hex');

/** Of two processes that make one at the same time both get the first. */
export async function madeKey(sql: Knex, at: string): Promise<string> {
  const row = { name: NAME, value: JSON.stringify(randomBytes(32).toString('hex')), updated_at: at };
  await sql('sync_state').insert(row).onConflict('name').ignore();
  return (await keptKey(sql)) as string;
}

async function keptKey(sql: Knex): Promise<string | undefined> {
  const row = await sql('sync_state').where({ name: NAME }).first('value');
  return row === undefined ? undefined : (JSON.parse(row.value) as string);
}
