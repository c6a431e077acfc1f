// A warehouse holds the data of one account at the service. Under another account, days would count as read and plans as
// confirmed that it never had, and a change would go to the record of somebody else that has the same id.
import type { Knex } from 'knex';
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { EVER } from './coverage.ts';
import { factIn, readFact, writeFact } from './learned-facts.ts';

export interface ServiceAccount {
  /** Digest of address and user. */
  account: string;
  address: string;
}

const FACT = 'service account';

/**
 * The account whose data the warehouse holds. It is the one that asks, if nothing was read or sent since another asked: a
 * wrong user name may be corrected.
 */
export async function accountOfWarehouse(
  engine: Engine,
  asking: ServiceAccount,
  nowMs: number,
): Promise<ServiceAccount> {
  const at = isoInstant(nowMs);
  const stored = await readFact<StoredAccount>(engine, FACT);
  if (stored?.account === asking.account) return stored;
  return engine.write(async (tx) => {
    const known = await factIn<StoredAccount>(tx.sql, FACT);
    if (known !== undefined && (await hasReadOrSent(tx.sql, known.since > at ? EVER : known.since))) return known;
    await writeFact(tx, FACT, { ...asking, since: at } satisfies StoredAccount, nowMs);
    return asking;
  });
}

interface StoredAccount extends ServiceAccount {
  since: string;
}

/** Also while a run is under way, which may store what it has read. */
const hasReadOrSent = async (sql: Knex, since: string): Promise<boolean> =>
  (await sql('sync_run').where({ status: 'running' }).first('run_id')) !== undefined ||
  (await sql('sync_coverage').where('covered_at', '>=', since).first('job')) !== undefined ||
  (await sql('push_outbox').where('sent_at', '>=', since).first('kind')) !== undefined;
