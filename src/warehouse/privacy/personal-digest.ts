// Digests of people's tax numbers. There are few enough tax numbers to reverse a plain digest by trying all of them, so
// the digest uses a random key. The key is created once, stored in the warehouse and never shown.
import { createHmac, randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { factIn, readFact, writeFact } from '../control/learned-facts.ts';
import type { Engine } from '../engine.ts';

export type Digest = (text: string) => string;

const NAME = 'digest_key';

/** The digest stays the same for the life of the warehouse. */
export async function personalDigest(engine: Engine, at: string): Promise<Digest> {
  const key = await readFact<string>(engine, NAME);
  return digestWith(key ?? (await engine.write(({ sql }) => createKey(sql, at))));
}

export const digestWith =
  (key: string): Digest =>
  (text) =>
    createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('hex');

/** Returns the existing key if another process has created one. */
export async function createKey(sql: Knex, at: string): Promise<string> {
  const known = await factIn<string>(sql, NAME);
  if (known !== undefined) return known;
  const key = randomBytes(32).toString('hex');
  await writeFact({ sql }, NAME, key, Date.parse(at));
  return key;
}
