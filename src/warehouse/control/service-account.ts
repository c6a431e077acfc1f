// A warehouse holds the data of one account at the service. Under another account, days would count as read and plans as
// confirmed that it never had, and a change would go to the record of somebody else that has the same id.
import type { Engine } from '../engine.ts';
import { factMemory } from './learned-facts.ts';

export interface ServiceAccount {
  /** Digest of address and user. */
  account: string;
  address: string;
}

/** The account whose data the warehouse holds: the one that asks, if no account has used the warehouse yet. */
export async function accountOfWarehouse(engine: Engine, asking: ServiceAccount, nowMs: number) {
  const memory = factMemory<ServiceAccount>(engine, 'service account');
  return (await memory.read()) ?? memory.update(async (known) => known ?? asking, nowMs);
}
