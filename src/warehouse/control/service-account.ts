// A warehouse holds the data of one account at the service. Under another account, days would count as read and plans as
// confirmed that it never had, and a change would go to the record of somebody else that has the same id.
import type { Knex } from 'knex';
import type { Engine } from '../engine.ts';
import { factIn, readFact, writeFact } from './learned-facts.ts';

export interface ServiceAccount {
  /** Digest of address and user. */
  account: string;
  address: string;
}

const FACT = 'service account';

/** The account whose data the warehouse holds. Without data it is the one that asks: a wrong user name may be corrected. */
export async function accountOfWarehouse(
  engine: Engine,
  asking: ServiceAccount,
  nowMs: number,
): Promise<ServiceAccount> {
  const stored = await readFact<ServiceAccount>(engine, FACT);
  if (stored?.account === asking.account) return stored;
  return engine.write(async (tx) => {
    const known = await factIn<ServiceAccount>(tx.sql, FACT);
    if (known !== undefined && (await hasReadOrSent(tx.sql))) return known;
    await writeFact(tx, FACT, asking, nowMs);
    return asking;
  });
}

const hasReadOrSent = async (sql: Knex): Promise<boolean> =>
  (await sql('sync_coverage').first('job')) !== undefined ||
  (await sql('push_outbox').whereNotNull('sent_at').first('kind')) !== undefined;
